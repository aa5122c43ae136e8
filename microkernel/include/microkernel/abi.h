/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that the kernel and its components share: system calls, their answers, types of capabilities with
 * their rights, and the slots that are filled when a component starts. Constants only.
 */
#ifndef BULKHEAD_MICROKERNEL_ABI_H
#define BULKHEAD_MICROKERNEL_ABI_H

/* A system call has its number in r12, a slot of the caller's capability table in r0, and arguments in r1 to
 * r3. It answers a sys_status in r0 and up to three words in r1 to r3. The comment above each call gives the
 * capability in the slot; the arguments; what the call does and answers. scripts/syscall_reference.py makes a
 * page of the manual from these comments. */
enum sys_number {
    /* endpoint; three words; calls the server and answers with its status and words */
    SYS_CALL,
    /* endpoint; three words for the caller; answers the caller, then badge | status and words of the next */
    SYS_REPLY_WAIT,
    /* thread, or SLOT_NONE; none; runs it until an event; answers sys_event, badge, an argument */
    SYS_DISPATCH,
    /* none; ticks; the scheduler gets an event with the ticks as argument */
    SYS_YIELD,
    /* any; component, rights | badge << 8, slot in the component's table; copies the capability there */
    SYS_DELEGATE,
    /* any; none; deletes all capabilities derived from it */
    SYS_REVOKE,
    /* any; none; deletes it: capabilities derived from it become its parent's */
    SYS_DELETE,
    /* untyped; first address, bytes | sys_kind, slot; makes a memory capability there */
    SYS_RETYPE,
    /* user memory; component, rights | type << 8 | flags << 16; maps the memory */
    SYS_MAP,
    /* mapped user memory; none; unmaps it */
    SYS_UNMAP,
    /* kernel memory; component, sys_purpose; gives the memory to the component for this purpose */
    SYS_GIVE,
    /* component or thread; sys_info; answers three words */
    SYS_INFO,
    /* hardware; sys_hardware, two words; controls the hardware */
    SYS_HARDWARE,
    SYS_NUMBERS,
};

enum sys_status {
    SYS_OK,        /* done */
    SYS_ENOCAP,    /* the slot is empty, or contains a capability of another type */
    SYS_ERIGHTS,   /* the capability lacks the right */
    SYS_EINVAL,    /* an argument is out of range or not aligned */
    SYS_EKIND,     /* a frame is not free, or is of the other kind */
    SYS_EBUSY,     /* in use: mapped, given, or a stack; or no region is left */
    SYS_ENOMEM,    /* the component's kernel memory is exhausted */
    SYS_EEXIST,    /* the slot is occupied, or part of the range is mapped */
    SYS_EDEADLOCK, /* the server waits for the caller */
    SYS_EDEAD,     /* the server was killed */
    SYS_STATUSES,
};

/* Why SYS_DISPATCH returns. */
enum sys_event {
    EVENT_NONE,   /* nothing has happened */
    EVENT_TICK,   /* argument: ticks since the last event */
    EVENT_YIELD,  /* argument: ticks that the thread wants to sleep */
    EVENT_KILLED, /* argument: number of the component */
    EVENT_SERVED, /* a call that blocked the dispatched thread has ended */
    EVENT_WAITS,  /* the thread is a server without a caller */
    EVENT_END,    /* argument: number of a component that ends the system */
};

enum sys_kind {
    KIND_USER = 0,   /* memory that components can map */
    KIND_KERNEL = 1, /* flag in the bytes argument of SYS_RETYPE, since bytes are multiples of a frame */
};

/* Flags of SYS_MAP. */
enum sys_map {
    MAP_STATIC = 1, /* a static region or a locked TLB entry */
    MAP_LOCAL = 2,  /* table nodes in on-chip memory */
    MAP_WAY = 4,    /* table nodes in a locked way of the outer cache */
};

/* Purposes of SYS_GIVE. */
enum sys_purpose {
    GIVE_RANGES, /* the trie */
    GIVE_TABLES, /* second-level translation tables of an MMU */
    GIVE_PURPOSES,
};

enum sys_info {
    INFO_SELF,   /* component, priority, whether it serves (1) */
    INFO_CODE,   /* code_first, code_bytes, default specification */
    INFO_DATA,   /* data_first, data_bytes */
    INFO_STACK,  /* stack_first, stack_bytes, state of the thread */
    INFO_MEMORY, /* of untyped memory: first and last address, log2 of the frame size */
    /* of untyped memory: address of the system's description (kernel/boot.h) for the holder, bytes */
    INFO_SYSTEM,
    INFO_CLOCK,   /* frequencies of clock_read() and of HW_TICK, in 1/s */
    INFO_RUN,     /* run time of the system, ns: low word, high word; 0: endless */
    INFO_PERIOD,  /* period of the component's job, in the same form; 0: none */
    INFO_BUDGET,  /* budget of the component's job, in the same form; 0: none */
    INFO_NAME,    /* name of the component: NAME_BYTES characters */
    INFO_TIME,    /* of a clock that no component can change: now, modulo 2^32, and frequency in 1/s */
    INFO_REFILLS, /* of the component's dynamic regions, modulo 2^32; whether the component was killed */
};

/* Operations on hardware capabilities; the right with the same number allows each. */
enum sys_hardware {
    /* up to 8 characters in two words, ended by zero. Answers how many the UART has not taken yet */
    HW_CONSOLE,
    HW_CLEAN_CACHE, /* data caches: clean and invalidate */
    HW_FLUSH_CHECK, /* drops all dynamic regions of the caller's component, or the TLB */
    HW_LOCK_WAYS,   /* of the outer cache: mask of ways */
    HW_TICK,        /* period of the timer, in its clocks */
    HW_END,         /* asks the scheduler to end the system; called by the scheduler: ends it */
    HW_OPERATIONS,
};

enum cap_type {
    CAP_EMPTY,
    CAP_UNTYPED,
    CAP_MEMORY,
    CAP_COMPONENT,
    CAP_THREAD,
    CAP_ENDPOINT,
    CAP_HARDWARE,
};

/* Rights. Those of memory are enum mxu_rights, those of hardware 1 << operation. */
#define RIGHT_CALL     1u /* endpoint */
#define RIGHT_SERVE    2u
#define RIGHT_MAP      1u /* component: its memory */
#define RIGHT_GRANT    2u /* its capabilities */
#define RIGHT_DISPATCH 1u /* thread */
#define RIGHTS_ALL     0xFFu

/* Slots that are filled at the start of a component. SLOT_NONE is always empty. */
#define SLOT_NONE       0u
#define SLOT_SELF       1u /* the component, with RIGHT_GRANT */
#define SLOT_HARDWARE   2u
#define SLOT_MANAGER    3u  /* endpoint of the memory manager */
#define SLOT_SERVE      4u  /* the component's own endpoint */
#define SLOT_CALLS      5u  /* endpoints of others, in the order of the system's description */
#define SLOT_UNTYPED    9u  /* manager: all frames */
#define SLOT_COMPONENTS 16u /* manager: components by number */
#define SLOT_THREADS    16u /* scheduler: threads by number of their component */
#define SLOTS_FREE      32u /* slots from here on are empty */

#define BADGE_SHIFT 8u

#endif
