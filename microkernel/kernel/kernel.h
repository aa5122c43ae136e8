/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's objects. All of them are in one structure of fixed size, but for tries and tables, which are
 * in frames that the memory manager gave (SYS_GIVE). There is one core and no preemption of the kernel, so
 * nothing is locked.
 */
#ifndef BULKHEAD_MICROKERNEL_KERNEL_H
#define BULKHEAD_MICROKERNEL_KERNEL_H

#include "arch_types.h"
#include "board.h"
#include "core/mxu_frames.h"
#include "core/mxu_mpu.h"
#include "core/mxu_trie.h"
#include "microkernel/include/microkernel/abi.h"
#include "microkernel/kernel/config.h"

#define NO_COMPONENT 0xFFu
#define NO_CAP       0xFFFFu

/* A slot of a capability table. All capabilities form one list, in which those that were derived from one
 * follow it with a greater depth. 20 bytes. */
struct cap {
    uint8_t type;
    uint8_t rights;
    uint8_t depth;
    uint8_t badge;
    uint8_t kind;   /* memory: enum mxu_frame_kind */
    uint8_t mapped; /* memory: the component that has it, or NO_COMPONENT */
    uint16_t next;
    uint16_t previous;
    uint16_t object; /* number of a component, thread or endpoint */
    uint32_t first;  /* memory and untyped: addresses */
    uint32_t last;
};

/* A protection domain. */
struct component {
    struct arch_space space; /* first: what the switch loads */
    struct mxu_trie trie;    /* what it may access */
    char name[NAME_BYTES];
    uint32_t code_first, code_last;
    uint32_t data_first, data_bytes;
    uint32_t spec;
    uint16_t first_cap, cap_count;
    uint8_t has_ranges; /* SYS_GIVE was called */
    uint8_t is_dead;
};

enum thread_state {
    THREAD_NEW,   /* never ran */
    THREAD_READY, /* runs when it is dispatched */
    THREAD_CALLS, /* its callee runs for it */
    THREAD_WAITS, /* a server without a caller */
    THREAD_DEAD,
};

struct thread {
    struct arch_context context; /* first: what the switch saves and loads */
    struct component *component; /* second */
    struct thread *caller;       /* whose call it serves */
    struct thread *callee;       /* who serves its call */
    uint32_t entry;
    uint32_t stack_first, stack_last;
    uint8_t state;
    uint8_t priority;
    uint8_t serves;
};

struct endpoint {
    struct thread *server;
};

struct boot_system;

struct kernel {
    struct thread *current;   /* first two: assembly uses them */
    struct component *loaded; /* whose regions or tables are loaded; null: none, load anew */
    struct thread *scheduler;
    struct thread *dispatched; /* by the scheduler; current serves it, perhaps through others */
    uint32_t ticks;            /* that the scheduler has not been told */
    bool scheduler_waits;      /* in SYS_DISPATCH */
    bool is_helping;           /* a server runs so that another caller than its own can go on */
    const struct boot_system *system;
    uint32_t component_count;
    struct mxu_frames frames;
    struct component component[MOST_COMPONENTS];
    struct thread thread[MOST_COMPONENTS]; /* each component's */
    struct endpoint endpoint[MOST_COMPONENTS];
    struct cap cap[MOST_CAPS];
    struct mxu_frame frame[BOARD_FRAMES];
};

extern struct kernel kernel;

static inline uint32_t component_number(const struct component *component)
{
    return (uint32_t)(component - kernel.component);
}

static inline uint32_t thread_number(const struct thread *thread)
{
    return (uint32_t)(thread - kernel.thread);
}

#endif
