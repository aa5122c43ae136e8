/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory with a temporal specification (X1), for components: `spec` is a set of MXU_* flags of core/mxu.h.
 * Each call is one invocation of the memory manager.
 */
#ifndef BULKHEAD_MICROKERNEL_RT_H
#define BULKHEAD_MICROKERNEL_RT_H

#include "core/mxu.h"
#include <stddef.h>

/* Memory that the system's description gives the component, by its name there; null: there is none. *bytes,
 * where it is not null, is how much was asked for. */
void *rt_memory(const char *name, size_t *bytes);

/* Null on refusal; rt_error() says which. */
void *rt_malloc(size_t size, unsigned spec);
void *rt_malloc_at(void *address, size_t size, unsigned spec); /* for loaders */
void rt_free(void *pointer);

/* Allocates or attaches to the shared memory `id`, which is not 0. All must agree on size and spec. */
void *rt_shmget(unsigned id, size_t size, size_t align, unsigned spec);

/* Of the last of these calls: enum mxu_status. After MXU_ENOHW, MXU_EBUSY and MXU_ENOMEM, what was lacking
 * (enum mxu_resource), how much was needed, and how much was left. */
int rt_error(void);
enum mxu_resource rt_lacking(unsigned *needed, unsigned *left);

/* Of what begins at the pointer; MXU_BY_NOTHING if there is nothing. */
enum mxu_mechanism rt_mechanism(const void *pointer);
enum mxu_independence rt_independence(const void *pointer);

/* From a heap of the component's size and specification, which the first call allocates. */
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *pointer, size_t size);
void free(void *pointer);

/* Sleeps for a number of ticks of 1 ms; 0: others of the same priority run first. In a component with a
 * period any sleep is the end of its job: it goes on when the next one is released. */
void rt_sleep(unsigned ticks);

/* The job is done: comes back when the next one is released. What a component does before it calls this for
 * the first time is no job, and not timed. */
void rt_end_job(void);

/* A clock that counts up, and its frequency. */
unsigned rt_clock(void);
unsigned rt_clock_hz(void);

/* Text on the console; SLOT_HARDWARE must allow it. */
void rt_print(const char *text);
void rt_print_number(unsigned value);

#endif
