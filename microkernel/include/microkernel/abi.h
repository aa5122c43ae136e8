/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that the kernel and its components agree on: system calls, what they answer, kinds of capabilities
 * with their rights, and the slots that each component finds filled when it starts. Constants only.
 */
#ifndef BULKHEAD_MICROKERNEL_ABI_H
#define BULKHEAD_MICROKERNEL_ABI_H

/* A system call has its number in r12, a slot of the caller's capability table in r0 and arguments in r1 to
 * r3. It answers a sys_status in r0 and up to three words in r1 to r3. */
enum sys_number {
    SYS_CALL,       /* endpoint; three words. Answers with the server's status and words */
    SYS_REPLY_WAIT, /* endpoint; three words for the caller. Answers badge | status, and the next caller's */
    SYS_DISPATCH,   /* thread, or SLOT_NONE. Answers a sys_event, its thread's badge, an argument */
    SYS_YIELD,      /* none; ticks. The scheduler is told, with the ticks as argument */
    SYS_DELEGATE,   /* any; component, rights | badge << 8, slot in the component's table */
    SYS_REVOKE,     /* any: deletes all that was derived from it */
    SYS_DELETE,     /* any: what was derived from it is derived from its parent afterwards */
    SYS_RETYPE,     /* untyped; first address, bytes | sys_kind, slot for the new memory capability */
    SYS_MAP,        /* memory of users; component, rights | type << 8 | flags << 16 */
    SYS_UNMAP,      /* memory that is mapped */
    SYS_GIVE,       /* memory of the kernel; component: for its ranges and tables, purpose */
    SYS_INFO,       /* component or thread; sys_info. Answers three words */
    SYS_HARDWARE,   /* hardware; sys_hardware, two words */
    SYS_NUMBERS,
};

enum sys_status {
    SYS_OK,
    SYS_ENOCAP,    /* the slot is empty, or has a capability of another type */
    SYS_ERIGHTS,   /* the capability lacks the right */
    SYS_EINVAL,    /* an argument is out of range or not aligned */
    SYS_EKIND,     /* a frame is not free, or of the other kind */
    SYS_EBUSY,     /* it is in use: mapped, given, or a stack; or no region is left */
    SYS_ENOMEM,    /* the component's kernel memory is used up */
    SYS_EEXIST,    /* the slot is taken, or a part of the range is mapped */
    SYS_EDEADLOCK, /* the server waits for its caller */
    SYS_EDEAD,     /* the server was killed */
    SYS_STATUSES,
};

/* Why SYS_DISPATCH comes back. */
enum sys_event {
    EVENT_NONE,
    EVENT_TICK,   /* argument: ticks since the last event */
    EVENT_YIELD,  /* argument: ticks that it wants to sleep */
    EVENT_KILLED, /* argument: number of the component */
    EVENT_SERVED, /* a call that the dispatched thread had waited for has ended */
    EVENT_WAITS,  /* it is a server without a caller */
    EVENT_END,    /* argument: number of a component that ends the system */
};

enum sys_kind {
    KIND_USER = 0,
    KIND_KERNEL = 1, /* flag in the bytes of SYS_RETYPE, which are multiples of a frame */
};

/* Flags of SYS_MAP. */
enum sys_map {
    MAP_STATIC = 1, /* a static region, a locked TLB entry */
    MAP_LOCAL = 2,  /* table nodes in the memory on the chip */
    MAP_WAY = 4,    /* in a locked way of the outer cache */
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
    INFO_MEMORY, /* of untyped: first, last, bits of a frame */
    INFO_SYSTEM, /* of untyped: where its holder has the system's description (kernel/boot.h), bytes */
    INFO_CLOCK,  /* of clock_read(), and of HW_TICK: 1/s */
    INFO_RUN,    /* time after which the system ends, ns: low word, high word; 0: never */
    INFO_PERIOD, /* of the component's job, in the same way; 0: it has none */
    INFO_BUDGET,
    INFO_NAME,    /* of the component: NAME_BYTES characters */
    INFO_TIME,    /* that no component can change: now, modulo 2^32, and 1/s */
    INFO_REFILLS, /* of the component's dynamic regions, modulo 2^32; whether it was killed */
};

/* Operations on hardware capabilities; a right of the same number allows each. */
enum sys_hardware {
    HW_CONSOLE, /* up to 8 characters in two words, zero ends. Answers how many the UART has not got yet */
    HW_CLEAN_CACHE, /* data caches: clean and invalidate */
    HW_FLUSH_CHECK, /* all dynamic regions of the caller's component, or the TLB */
    HW_LOCK_WAYS,   /* of the outer cache: mask of ways */
    HW_TICK,        /* period of the timer in ticks of its clock */
    HW_END,         /* the scheduler is told to end the system; by the scheduler: it ends */
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

/* Rights; of memory they are enum mxu_rights, of hardware 1 << operation. */
#define RIGHT_CALL     1u /* endpoint */
#define RIGHT_SERVE    2u
#define RIGHT_MAP      1u /* component: its memory */
#define RIGHT_GRANT    2u /* its capabilities */
#define RIGHT_DISPATCH 1u /* thread */
#define RIGHTS_ALL     0xFFu

/* Slots that are filled at the start. SLOT_NONE is always empty. */
#define SLOT_NONE       0u
#define SLOT_SELF       1u /* the component, with RIGHT_GRANT */
#define SLOT_HARDWARE   2u
#define SLOT_MANAGER    3u  /* endpoint of the memory manager */
#define SLOT_SERVE      4u  /* the component's own endpoint */
#define SLOT_CALLS      5u  /* endpoints of others, in the order of the system's description */
#define SLOT_UNTYPED    9u  /* manager: all frames */
#define SLOT_COMPONENTS 16u /* manager: components by number */
#define SLOT_THREADS    16u /* scheduler: threads by number of their component */
#define SLOTS_FREE      32u /* from here on all are empty */

#define BADGE_SHIFT 8u

#endif
