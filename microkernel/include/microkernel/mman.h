/* SPDX-License-Identifier: Apache-2.0
 *
 * mmap() for programs that know no specifications (X1): memory has that of the component, as malloc()'s heap
 * does. Names and values are POSIX's and Linux's.
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

/* Memory of the component alone, all zero, in whole pages. MAP_FAILED on refusal; rt_error() says which.
 *
 * MXU_EINVAL: no bytes; a file, because there are none; MAP_SHARED, because shared memory has a name
 * (rt_shmget()); PROT_EXEC, because the code of components is placed before the system starts; PROT_NONE or
 * PROT_WRITE alone, because a region can be read if it is there. Else as rt_malloc().
 *
 * Without MAP_FIXED the address says nothing. With it MXU_EEXIST where something is there already, which
 * POSIX would take away. */
void *mmap(void *address, size_t bytes, int protection, int flags, int file, long offset);

/* Gives back what one mmap() has mapped, all of it: address and bytes are those of that call. Else -1, with
 * MXU_ENOENT if nothing begins there, MXU_EINVAL if it is more or less than what does. */
int munmap(void *address, size_t bytes);

#endif
