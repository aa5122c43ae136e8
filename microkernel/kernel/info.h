/* SPDX-License-Identifier: Apache-2.0
 *
 * SYS_INFO: information on an object for the holder of its capability.
 */
#ifndef BULKHEAD_MICROKERNEL_INFO_H
#define BULKHEAD_MICROKERNEL_INFO_H

#include "microkernel/kernel/kernel.h"

/* Answers words 1 to 3. SYS_EINVAL if the object has no information of that kind. */
enum sys_status info_answer(struct thread *caller, const struct cap *cap, uint32_t what);

#endif
