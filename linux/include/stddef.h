/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What core/ needs of <stddef.h>, from the kernel's own.
 */
#ifndef BULKHEAD_LINUX_STDDEF_H
#define BULKHEAD_LINUX_STDDEF_H

#include <linux/stddef.h>
#include <linux/types.h>

#endif
