/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What core/ needs of <stdint.h>, from the kernel's own types. For the module alone: kbuild has no C
 * library's headers.
 */
#ifndef BULKHEAD_LINUX_STDINT_H
#define BULKHEAD_LINUX_STDINT_H

#include <linux/types.h>

#define UINT32_MAX 0xFFFFFFFFu
#define UINT64_MAX 0xFFFFFFFFFFFFFFFFull

#endif
