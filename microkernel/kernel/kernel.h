/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's objects. All of them are in one structure of fixed size, except tries and tables, which are in
 * frames from the memory manager (SYS_GIVE). There is one core and the kernel is not preempted, so there are
 * no locks.
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

/* A slot of a capability table. All capabilities form one list, in which the capabilities derived from one
 * follow it with a greater depth. 20 bytes. */
struct cap {
    uint8_t type;
    uint8_t rights;
    uint8_t depth;
    uint8_t badge;
    uint8_t kind;   /* memory: enum mxu_frame_kind */
    uint8_t mapped; /* memory: the component in which it is mapped, or NO_COMPONENT */
    uint16_t next;
    uint16_t previous;
    uint16_t object; /* number of a component, thread or endpoint */
    uint32_t first;  /* memory and untyped: addresses */
    uint32_t last;
};

/* A protection domain. */
struct component {
    struct arch_space space; /* first field: the context switch loads it */
    struct mxu_trie trie;    /* accessible ranges */
    char name[NAME_BYTES];
    uint32_t code_first, code_last;
    uint32_t data_first, data_bytes;
    uint32_t spec;
    uint16_t first_cap, cap_count;
    uint8_t has_ranges; /* SYS_GIVE was called for ranges */
    uint8_t is_dead;
};

enum thread_state {
    THREAD_NEW,   /* has never run */
    THREAD_READY, /* runs when dispatched */
    THREAD_CALLS, /* blocked in a call; its callee runs for it */
    THREAD_WAITS, /* a server without a caller */
    THREAD_DEAD,
};

struct thread {
    struct arch_context context; /* first field: the context switch saves and loads it */
    struct component *component; /* second field */
    struct thread *caller;       /* thread whose call it serves */
    struct thread *callee;       /* thread that serves its call */
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
    struct thread *current; /* first two fields: assembly uses them */
    /* component whose regions or tables are loaded; null: none, they must be loaded */
    struct component *loaded;
    struct thread *scheduler;
    /* thread dispatched by the scheduler; `current` serves it, possibly through others */
    struct thread *dispatched;
    uint32_t ticks;       /* ticks that were not reported to the scheduler yet */
    bool scheduler_waits; /* the scheduler waits in SYS_DISPATCH */
    /* a server runs on behalf of a thread that is not its caller, so that this thread can go on */
    bool is_helping;
    const struct boot_system *system;
    uint32_t component_count;
    struct mxu_frames frames;
    struct component component[MOST_COMPONENTS];
    struct thread thread[MOST_COMPONENTS]; /* one for each component */
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
