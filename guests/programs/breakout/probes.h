// SPDX-License-Identifier: Apache-2.0
//
// The functions of arch/aarch64/breakout_probes.S: one forbidden or odd instruction each.
#ifndef BULKHEAD_BREAKOUT_PROBES_H
#define BULKHEAD_BREAKOUT_PROBES_H

#include <stdint.h>

typedef uint64_t probe(uint64_t address, uint64_t value);

probe probe_load8, probe_load16, probe_load32, probe_load64;
probe probe_store8, probe_store16, probe_store32, probe_store64;
probe probe_load_pair, probe_store_pair, probe_load_write_back, probe_store_write_back;
probe probe_load_exclusive, probe_load_acquire, probe_store_release, probe_store_unprivileged;
probe probe_exclusive_pair, probe_atomic_add, probe_atomic_swap;
probe probe_clean_line, probe_invalidate_line, probe_zero_line, probe_invalidate_code;
probe probe_prefetch_load, probe_prefetch_store, probe_translate;

uint64_t probe_call(uint64_t address);
uint64_t probe_walk(uint64_t table);
uint64_t probe_return_to(uint64_t spsr);
void probe_run(const uint32_t *code, void *answers, const void *values);
void probe_make_visible(uint64_t start, uint64_t bytes);
void probe_broadcast(void);

#endif
