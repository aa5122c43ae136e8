/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What core/ needs of <stdbool.h>, from the kernel's own types.
 */
#ifndef BULKHEAD_LINUX_STDBOOL_H
#define BULKHEAD_LINUX_STDBOOL_H

#include <linux/stddef.h>
#include <linux/types.h>

#endif
