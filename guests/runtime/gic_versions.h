// SPDX-License-Identifier: Apache-2.0
//
// The drivers for the versions of the interrupt controller. Only gic.c calls them.
#ifndef BULKHEAD_GUESTS_GIC_VERSIONS_H
#define BULKHEAD_GUESTS_GIC_VERSIONS_H

#include <stdbool.h>
#include <stdint.h>

// As in gic.h, for a GICv2.
bool gic_v2_init(void);
bool gic_v2_init_secondary(void);
void gic_v2_enable_private(uint32_t intid);
void gic_v2_enable_shared(uint32_t intid);
void gic_v2_send(uint32_t intid, uint32_t cpu);
bool gic_v2_acknowledge(uint32_t *intid);
void gic_v2_end(uint32_t intid);

// As in gic.h, for a GICv3.
bool gic_v3_init(void);
bool gic_v3_init_secondary(void);
void gic_v3_enable_private(uint32_t intid);
void gic_v3_enable_shared(uint32_t intid);
void gic_v3_send(uint32_t intid, uint32_t cpu);
bool gic_v3_acknowledge(uint32_t *intid);
void gic_v3_end(uint32_t intid);

#endif
