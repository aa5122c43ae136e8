/* SPDX-License-Identifier: Apache-2.0
 *
 * Time stamps of a packet's path (core/path_costs.h), if the manifest asks for them; each core stores them in
 * a frame of the pool. EL2 measures the parts of the path that begin on one core and end on another; the
 * broker measures most others itself.
 */
#ifndef BULKHEAD_PATH_STAMPS_H
#define BULKHEAD_PATH_STAMPS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;

/* Allocates the frames. Called on the first core, before the pool is sealed. Returns false if the pool is
 * exhausted. */
bool path_stamps_init(void);

/* Takes over the broker's own measurements so far: a status_path_costs in a whole page of the broker's
 * memory, at guest-physical address `at`. Called on the broker's core. Returns false if the page is not the
 * broker's, or if the manifest does not ask for stamps. */
bool path_stamps_take(const struct domain *broker, uint64_t at);

/* Answers hypercall_path_cost_read: reads x[1] to x[3] and writes x[1] to x[5]. Returns false, with nothing
 * written, if nothing is measured or an argument is out of range. */
bool path_stamps_read(uint64_t x[31]);

/* The interrupt line of a domain's device goes high now. */
void path_stamps_raise(uint32_t domain);

/* The device's driver reads the interrupt status. Called on the driver's core. */
void path_stamps_heard(uint32_t domain);

#ifdef __cplusplus
}
#endif

#endif
