/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests allocations that the memory manager can grant and others that it must refuse, and prints the
 * answers (X2).
 */
#include "board.h"
#include "microkernel/include/microkernel/component.h"
#include "microkernel/programs/say.h"

#define MOST 8u

static void ask(const char *what, unsigned size, unsigned spec)
{
    unsigned needed;
    unsigned left;

    (void)rt_malloc(size, spec);
    say("asker", what, (unsigned)rt_error());
    say("asker", "lacking", (unsigned)rt_lacking(&needed, &left));
}

/* Allocates memory with a specification, and accesses it. */
static void try_spec(const char *what, unsigned spec)
{
    void *pointer = rt_malloc(4096, spec);
    volatile unsigned *memory = pointer;

    say("asker", what, (unsigned)rt_error());
    if (memory != 0) {
        memory[0] = spec;
        memory[1023] = spec + 1u;
        say("asker", "mechanism", rt_mechanism(pointer));
        say("asker", "independence", rt_independence(pointer));
        say("asker", "kept", memory[0] + memory[1023] == 2 * spec + 1u);
    }
}

void component_main(void)
{
    void *fixed[MOST];
    unsigned count = 0;
    char *text;

    while (count < MOST) {
        fixed[count] = rt_malloc(4096, MXU_DETERMINISTIC);
        if (fixed[count] == 0) {
            break;
        }
        *(volatile unsigned *)fixed[count] = count;
        count++;
    }
    say("asker", "deterministic allocations", count);
    ask("one more", 4096, MXU_DETERMINISTIC);
    say("asker", "mechanism of the first", rt_mechanism(fixed[0]));
    say("asker", "independence of the first", rt_independence(fixed[0]));
    rt_free(fixed[0]);
    fixed[0] = rt_malloc(4096, MXU_DETERMINISTIC);
    say("asker", "one freed, one more", fixed[0] != 0);
    ask("more memory than there is", 1u << 30, 0);
    ask("unknown flag", 64, 1u << 4 << 4);
    /* Neither end is aligned: three regions are needed from each end to the middle. */
    (void)rt_malloc_at((void *)(MANY_FIRST + 1024u), 1022u * 1024u, MXU_DETERMINISTIC);
    say("asker", "deterministic in more regions than there are", (unsigned)rt_error());
    for (unsigned i = 0; i < count; i++) {
        rt_free(fixed[i]);
    }
    try_spec("second level", MXU_L2);
    try_spec("independent", MXU_INDEPENDENT);
    try_spec("nothing", 0);
    text = malloc(100);
    say("asker", "malloc without a heap", text != 0);
    rt_free((void *)4);
    say("asker", "free of what is none", (unsigned)rt_error());
    say("asker", "done", 1);
}
