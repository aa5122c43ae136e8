/* SPDX-License-Identifier: Apache-2.0
 *
 * State of a domain's flash that takes commands (run/flash.h).
 */
#ifndef BULKHEAD_FLASH_STATE_H
#define BULKHEAD_FLASH_STATE_H

#include "core/manifest.h"
#include "core/nor_flash.h"
#include "core/spinlock.h"
#include <stdatomic.h>
#include <stdbool.h>

struct flash {
    const struct manifest_segment *segment; /* NULL: the domain has none */
    struct spinlock lock;                   /* protects `chip`, the content, and changes of `hidden` */
    struct nor_flash chip;
    _Atomic bool hidden;
};

#endif
