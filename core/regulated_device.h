/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Devices whose rate the regulator of cores changes (B11). Such a device is one more master of regulator.h,
 * at a place behind the cores. A regulator of the interconnect holds it to its budget, and nothing counts
 * what it moves: a sample has its budget instead. Pure arithmetic; hypervisor/time/device_regulators.c writes
 * the registers.
 */
#ifndef BULKHEAD_CORE_REGULATED_DEVICE_H
#define BULKHEAD_CORE_REGULATED_DEVICE_H

#include "core/manifest.h"
#include "core/regulator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The place of a device in masks and budgets of the regulator, at least BH_MAX_CORES if there is none.
 * `number`: of the interconnect's regulator, below BH_MAX_DEVICE_REGULATORS. */
uint32_t regulated_device_place(const struct manifest_header *manifest, uint32_t number);

/* Mask of the places of all such devices. */
uint32_t regulated_devices(const struct manifest_header *manifest);

/* The largest rate of the registers, at most `most` of the manifest, with which the device moves no more than
 * `events` in an interval; 0: a rate of 1 is more already. `events`: at most REGULATOR_MAX_EVENTS. The device
 * has a place. */
uint32_t regulated_device_rate(const struct manifest_device_regulators *all, uint32_t number, uint64_t events,
                               uint64_t interval_ns);

/* Events of an interval at the largest rate, rounded up. */
uint64_t regulated_device_most(const struct manifest_device_regulators *all, uint32_t number,
                               uint64_t interval_ns);

/* Fills in the accesses of all such devices, which had `budgets` in the interval that has ended. A device
 * that had less than its largest rate counts as throttled. */
void regulated_devices_post(const struct manifest_header *manifest,
                            const uint64_t budgets[REGULATOR_MAX_CORES], uint64_t interval_ns,
                            struct regulator_sample *sample);

#ifdef __cplusplus
}
#endif

#endif
