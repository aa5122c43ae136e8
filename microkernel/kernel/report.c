/* SPDX-License-Identifier: Apache-2.0
 *
 * Text for users; no decision depends on it. To find the owner of an address, each component's trie is
 * searched once.
 */
#include "microkernel/kernel/report.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/console.h"
#include "microkernel/kernel/life.h"

#define HEX_DIGITS 8u

static void put_text(const char *text)
{
    for (; *text != '\0'; text++) {
        console_put(*text);
    }
}

static void put_hex(uint32_t value)
{
    put_text("0x");
    for (uint32_t i = HEX_DIGITS; i > 0; i--) {
        console_put("0123456789abcdef"[value >> 4 * (i - 1u) & 15u]);
    }
}

static void put_range(uint32_t first, uint32_t last)
{
    put_hex(first);
    put_text("-");
    put_hex(last);
}

/* Prints the component's range that holds the address; false if there is none. */
static bool put_owner(const struct component *component, uint32_t address)
{
    const struct mxu_range *range = component->has_ranges ? mxu_trie_find(&component->trie, address) : 0;

    if (address >= component->code_first && address <= component->code_last) {
        put_range(component->code_first, component->code_last);
        put_text(", code of ");
    } else if (range != 0) {
        put_range(range->first, range->last);
        put_text(", memory of ");
    } else {
        return false;
    }
    put_text(component->name);
    return true;
}

static void put_range_owner(const struct component *component, uint32_t address)
{
    struct mxu_run run;
    uint32_t mask = (1u << kernel.frames.frame_bits) - 1u;

    put_text("; range ");
    if (put_owner(component, address)) {
        put_text(" itself");
        return;
    }
    /* bound: MOST_COMPONENTS */
    for (uint32_t i = 0; i < kernel.component_count; i++) {
        if (put_owner(&kernel.component[i], address)) {
            return;
        }
    }
    if (!mxu_frames_of(&kernel.frames, address & ~mask, mask + 1u, &run)) {
        put_text("none, outside of all frames");
    } else if (mxu_frames_are(&kernel.frames, run, MXU_FRAME_KERNEL)) {
        put_text("none, memory of the kernel");
    } else {
        put_text("none, unmapped memory");
    }
}

struct thread *report_violation(struct thread *current, const struct violation *violation)
{
    static const char *const access[] = {"read of", "write to", "access to", "fetch from"};

    console_begin();
    put_text(current->component->name);
    put_text(" killed: ");
    put_text(violation->what);
    if (violation->has_address) {
        put_text(": ");
        put_text(access[violation->access]);
        put_text(" ");
        put_hex(violation->address);
    }
    if (violation->pc != 0) {
        put_text(" by ");
        put_hex(violation->pc);
    }
    if (violation->has_address) {
        put_range_owner(current->component, violation->address);
    }
    console_end();
    return component_kill(current->component);
}

struct thread *report_stack(struct thread *current)
{
    const struct violation violation = {.what = "stack pointer outside of the stack"};

    return report_violation(current, &violation);
}

void report_line(const char *text)
{
    console_begin();
    put_text(text);
    console_end();
}
