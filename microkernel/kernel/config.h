/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes of the kernel's tables. They bound every loop of the kernel: docs/design/mxu.md lists the bounds.
 */
#ifndef BULKHEAD_MICROKERNEL_CONFIG_H
#define BULKHEAD_MICROKERNEL_CONFIG_H

#define MOST_COMPONENTS 10u
#define MOST_CALLS      4u
#define MANAGER_SLOTS   512u
#define COMPONENT_SLOTS 48u
#define MOST_CAPS       (MANAGER_SLOTS + (MOST_COMPONENTS - 1u) * COMPONENT_SLOTS)
#define NAME_BYTES      12u

/* Maximum number of memory entries in a description, and bytes of a name. */
#define MOST_MEMORY       64u
#define MEMORY_NAME_BYTES 32u

/* Bytes that one pass of a retype clears; pending interrupts are taken between passes. */
#define CLEARED_AT_ONCE 1024u

/* The memory manager is the first component, the scheduler the second. */
#define MANAGER   0u
#define SCHEDULER 1u

#endif
