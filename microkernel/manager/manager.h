/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory manager: a component that owns the policy of MxU (core/mxu_memory.h) and all free frames. It
 * decides which memory a component gets; the kernel makes it accessible through the manager's capabilities
 * and checks the manager's calls. Parts: books.c (state, start), apply.c (calls to the kernel), given.c
 * (memory in the description), requests.c (calls of components), hardware_*.c (the system's hardware).
 */
#ifndef BULKHEAD_MICROKERNEL_MANAGER_MANAGER_H
#define BULKHEAD_MICROKERNEL_MANAGER_MANAGER_H

#include "board.h"
#include "core/mxu_memory.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/kernel/boot.h"

#define MOST_RANGES      80u /* in a component */
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
    uint32_t placed[MOST_MEMORY]; /* address of each memory in the description */
    /* slot of the manager's capability for each range; 0: none */
    uint16_t slot[MOST_COMPONENTS][MOST_RANGES];
    /* The same for frames that it gave the kernel, by purpose. */
    uint16_t kernel_slot[MOST_COMPONENTS][GIVE_PURPOSES];
    struct mxu_run kernel_run[MOST_COMPONENTS][GIVE_PURPOSES];
    uint32_t taken[(MANAGER_SLOTS + 31u) / 32u]; /* occupied slots, one bit each */
    struct mxu_allocation allocation[MOST_ALLOCATIONS];
    struct mxu_span span[MOST_ALLOCATIONS];
    struct mxu_range range[MOST_COMPONENTS][MOST_RANGES];
    struct mxu_node node[MOST_COMPONENTS][MOST_NODES];
    struct mxu_frame frame[MOST_FRAMES];
};

extern struct books books;

/* Reads the system from the kernel, and gives each component its memory. Null, or an error message;
 * differences between the admitted and the available memory are reported before. */
const char *books_start(void);

/* Begins a line of the manager with its name, unless the kernel writes the name. */
void begin_line(void);

/* Allocates the memory in the description: entries with fixed addresses, or those without. False: an entry is
 * not as admitted. */
bool given_enter(bool fixed);

/* Number in the description of a component's memory, by the hash of its name, or of its heap; MOST_MEMORY:
 * there is none. */
uint32_t given_find(uint32_t component, uint32_t hash);
uint32_t given_heap(uint32_t component);

/* Allocates a slot of the manager's table; 0: none is free. */
uint16_t slot_take(void);
void slot_release(uint16_t slot);

/* Makes a new allocation accessible; MXU_ENOMEM if the kernel refuses, and then nothing is accessible. */
enum mxu_status apply_allocation(uint32_t number);

/* Makes it inaccessible, before it is freed. MXU_EBUSY if a thread's stack is there. */
enum mxu_status withdraw_allocation(uint32_t number);

/* Give the kernel frames for a component, once for each purpose; take_given() takes all back after the
 * component was killed. */
bool give_ranges(uint32_t component);
bool give_frames(uint32_t component, enum sys_purpose purpose, uint32_t count);
void take_given(uint32_t component);

/* Serves a call with these words; returns the words of the answer. */
struct sys_words serve_request(uint32_t badge, const uint32_t word[3]);

/* The hardware that checks accesses in this system (hardware_*.c), as far as the description does not define
 * it. */
void hardware_describe(struct mxu_memory *memory, struct mxu_hardware *hardware);
bool hardware_init(struct mxu_component *component, uint32_t seed);

/* Gives the kernel the memory that it needs for a component in addition to its ranges. */
bool hardware_give(uint32_t component);
extern const uint32_t hardware_stack_spec;

#endif
