/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory manager: a component that owns the policy of MxU (core/mxu_memory.h) and all free frames. It
 * decides which memory a component gets; the kernel makes it accessible by the manager's capabilities and
 * checks what it is told. Parts: books.c (state, start), apply.c (what the kernel has to be told),
 * given.c (what
 * the description lists), requests.c (calls of components), hardware_*.c (what the system has).
 */
#ifndef BULKHEAD_MICROKERNEL_MANAGER_MANAGER_H
#define BULKHEAD_MICROKERNEL_MANAGER_MANAGER_H

#include "board.h"
#include "core/mxu_memory.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/kernel/boot.h"

#define MOST_RANGES      80u /* of a component */
#define MOST_NODES       160u
#define MOST_ALLOCATIONS 256u
#define MOST_FRAMES      BOARD_FRAMES

struct books {
    const struct boot_system *system;
    struct mxu_memory memory;
    struct mxu_hardware hardware;
    struct mxu_account account;
    struct mxu_frames frames;
    struct mxu_component component[MOST_COMPONENTS];
    uint32_t placed[MOST_MEMORY];                /* where what the description lists is */
    uint16_t slot[MOST_COMPONENTS][MOST_RANGES]; /* the manager's capability for each range; 0: none */
    /* And for frames that it gave the kernel, by purpose. */
    uint16_t kernel_slot[MOST_COMPONENTS][GIVE_PURPOSES];
    struct mxu_run kernel_run[MOST_COMPONENTS][GIVE_PURPOSES];
    uint32_t taken[(MANAGER_SLOTS + 31u) / 32u]; /* slots, one bit each */
    struct mxu_allocation allocation[MOST_ALLOCATIONS];
    struct mxu_span span[MOST_ALLOCATIONS];
    struct mxu_range range[MOST_COMPONENTS][MOST_RANGES];
    struct mxu_node node[MOST_COMPONENTS][MOST_NODES];
    struct mxu_frame frame[MOST_FRAMES];
};

extern struct books books;

/* Reads the system from the kernel, and gives each component its memory. Null, or why it cannot; what the
 * description admits and the hardware does not give is said before. */
const char *books_start(void);

/* Of the manager's own lines: its name, unless the kernel writes it. */
void begin_line(void);

/* Enters what the description lists: with fixed places, or without. False: one of it is not as admitted. */
bool given_enter(bool fixed);

/* Number in the description of a component's memory by the hash of its name, or of its heap; MOST_MEMORY: it
 * has none. */
uint32_t given_find(uint32_t component, uint32_t hash);
uint32_t given_heap(uint32_t component);

/* A slot of the manager's table, or 0. */
uint16_t slot_take(void);
void slot_release(uint16_t slot);

/* Makes a new allocation accessible; MXU_ENOMEM if the kernel refuses, and then nothing is. */
enum mxu_status apply_allocation(uint32_t number);

/* Takes it away, before it is freed. MXU_EBUSY if a thread's stack is there. */
enum mxu_status withdraw_allocation(uint32_t number);

/* Gives the kernel frames for a component, once for each purpose, and takes all back when it was killed. */
bool give_ranges(uint32_t component);
bool give_frames(uint32_t component, enum sys_purpose purpose, uint32_t count);
void take_given(uint32_t component);

/* Serves the words of a call; returns those of the answer. */
struct sys_words serve_request(uint32_t badge, const uint32_t word[3]);

/* What checks accesses in this system (hardware_*.c), as far as the description does not say it. */
void hardware_describe(struct mxu_memory *memory, struct mxu_hardware *hardware);
bool hardware_init(struct mxu_component *component, uint32_t seed);

/* Gives the kernel what it needs for a component beside its ranges. */
bool hardware_give(uint32_t component);
extern const uint32_t hardware_stack_spec;

#endif
