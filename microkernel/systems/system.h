/* SPDX-License-Identifier: Apache-2.0
 *
 * For descriptions of systems: names of components' code, and of the rights that they have on hardware.
 */
#ifndef BULKHEAD_MICROKERNEL_SYSTEM_H
#define BULKHEAD_MICROKERNEL_SYSTEM_H

#include "core/mxu.h"
#include "microkernel/include/microkernel/abi.h"
#include "microkernel/kernel/boot.h"

/* Name and code of a component. */
#define COMPONENT(NAME) .name = #NAME, .code_first = (uint32_t)(uintptr_t)component_##NAME

#define MAY_PRINT       (1u << HW_CONSOLE)
#define MAY_CLEAN       (1u << HW_CLEAN_CACHE)
#define MAY_FLUSH_CHECK (1u << HW_FLUSH_CHECK)
#define MAY_LOCK_WAYS   (1u << HW_LOCK_WAYS)
#define MAY_SET_TICK    (1u << HW_TICK)

#endif
