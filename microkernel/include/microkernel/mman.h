/* SPDX-License-Identifier: Apache-2.0
 *
 * mmap() for programs that know no specifications (X1): its memory has the component's specification, as
 * malloc()'s heap does. Names and values are those of POSIX and Linux.
 */
#ifndef BULKHEAD_MICROKERNEL_MMAN_H
#define BULKHEAD_MICROKERNEL_MMAN_H

#include <stddef.h>

#define PROT_NONE  0
#define PROT_READ  1
#define PROT_WRITE 2
#define PROT_EXEC  4

#define MAP_SHARED    0x01
#define MAP_PRIVATE   0x02
#define MAP_FIXED     0x10
#define MAP_ANONYMOUS 0x20
#define MAP_FAILED    ((void *)-1)

#define MAP_PAGE_BYTES 4096u

/* Zeroed private memory of the component, in whole pages. MAP_FAILED on refusal; rt_error() gives the reason.
 *
 * MXU_EINVAL: 0 bytes; a file, because there are none; MAP_SHARED, because shared memory has a name
 * (rt_shmget()); PROT_EXEC, because the code of components is placed before the system starts; PROT_NONE or
 * only PROT_WRITE, because a mapped region is always readable. Otherwise as rt_malloc().
 *
 * Without MAP_FIXED the address is ignored. With it, MXU_EEXIST if part of the range is mapped already, where
 * POSIX would replace the mapping. */
void *mmap(void *address, size_t bytes, int protection, int flags, int file, long offset);

/* Unmaps a complete mapping of mmap(): address and bytes must be those of that call. Otherwise -1, with
 * MXU_ENOENT if no mapping begins there, MXU_EINVAL if its size differs. */
int munmap(void *address, size_t bytes);

#endif
