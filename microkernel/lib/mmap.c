/* SPDX-License-Identifier: Apache-2.0
 *
 * mmap(), implemented by calls of the memory manager.
 */
#include "microkernel/include/microkernel/mman.h"

#include "microkernel/include/microkernel/sys.h"
#include "microkernel/lib/ask.h"

static int refuse(void)
{
    rt_set_error(MXU_EINVAL);
    return -1;
}

/* Rounds up to whole pages; 0 if so many bytes cannot be mapped. */
static size_t whole_pages(size_t bytes)
{
    return (bytes + (MAP_PAGE_BYTES - 1u)) & ~(size_t)(MAP_PAGE_BYTES - 1u);
}

/* The specification that the description states for calls without one. */
static unsigned own_specification(void)
{
    return sys_call(SYS_INFO, SLOT_SELF, INFO_CODE, 0, 0).word[3];
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, long offset)
{
    bool is_fixed = (flags & MAP_FIXED) != 0;
    bool is_kind = (flags & ~MAP_FIXED) == (MAP_PRIVATE | MAP_ANONYMOUS) && file == -1 && offset == 0;
    struct rt_wish wish = {
        .operation = is_fixed ? MANAGER_MALLOC_AT : MANAGER_MALLOC,
        .rights = protection == PROT_READ ? MXU_READ : MXU_READ | MXU_WRITE,
        .spec = own_specification(),
        .bytes = (uint32_t)whole_pages(bytes),
        .at = is_fixed ? (uint32_t)(uintptr_t)address : 0,
    };
    void *mapped;

    if (!is_kind || (protection & PROT_READ) == 0 || (protection & ~(PROT_READ | PROT_WRITE)) != 0 ||
        wish.bytes == 0) {
        (void)refuse();
        return MAP_FAILED;
    }
    mapped = rt_allocate(&wish);
    return mapped != 0 ? mapped : MAP_FAILED;
}

int munmap(void *address, size_t bytes)
{
    size_t all = whole_pages(bytes);

    return all != 0 ? rt_give_back(address, (uint32_t)all) : refuse();
}
