/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a Thumb instruction loads or stores (DDI 0403E, A5), which an MPU fault does not report. Used in
 * reports only.
 */
#ifndef BULKHEAD_MICROKERNEL_ARMV7M_ACCESS_H
#define BULKHEAD_MICROKERNEL_ARMV7M_ACCESS_H

#include "microkernel/kernel/report.h"

/* Decodes the first halfword of the instruction; ACCESS_DATA if it neither loads nor stores. */
enum violation_access thumb_access(uint16_t first);

#endif
