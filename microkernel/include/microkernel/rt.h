/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory with a temporal specification (X1), for components. `spec` is a set of MXU_* flags of core/mxu.h.
 * Each call invokes the memory manager once.
 */
#ifndef BULKHEAD_MICROKERNEL_RT_H
#define BULKHEAD_MICROKERNEL_RT_H

#include "core/mxu.h"
#include <stddef.h>

/* Memory that the system's description assigns to the component, by its name there; null: there is none.
 * *bytes, if not null, gets the requested size. */
void *rt_memory(const char *name, size_t *bytes);

/* Null on refusal; rt_error() gives the reason. */
void *rt_malloc(size_t size, unsigned spec);
void *rt_malloc_at(void *address, size_t size, unsigned spec); /* for loaders */
void rt_free(void *pointer);

/* Allocates or attaches to the shared memory `id`, which must not be 0. All components must use the same size
 * and spec. */
void *rt_shmget(unsigned id, size_t size, size_t align, unsigned spec);

/* rt_error(): enum mxu_status of the last of these calls. rt_lacking(): after MXU_ENOHW, MXU_EBUSY and
 * MXU_ENOMEM, the lacking resource (enum mxu_resource), the amount needed, and the amount left. */
int rt_error(void);
enum mxu_resource rt_lacking(unsigned *needed, unsigned *left);

/* Properties of the allocation that begins at the pointer; MXU_BY_NOTHING if there is none. */
enum mxu_mechanism rt_mechanism(const void *pointer);
enum mxu_independence rt_independence(const void *pointer);

/* From a heap with the component's size and specification, which the first call allocates. */
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *pointer, size_t size);
void free(void *pointer);

/* Sleeps for a number of ticks of 1 ms; 0: yields to others of the same priority. In a component with a
 * period, any sleep ends the job: the call returns when the next job is released. */
void rt_sleep(unsigned ticks);

/* Ends the job: returns when the next job is released. What a component does before its first call is not a
 * job and is not timed. */
void rt_end_job(void);

/* A clock that counts up, and its frequency. */
unsigned rt_clock(void);
unsigned rt_clock_hz(void);

/* Writes text on the console; SLOT_HARDWARE must allow it. */
void rt_print(const char *text);
void rt_print_number(unsigned value);

#endif
