// SPDX-License-Identifier: Apache-2.0
// One resource instance (RIS) of a memory-system component: what it offers, each partition's settings, the
// model that applies them, and its monitors. Plain data, owned by machine/mpam/component.h, which has its
// registers.
#pragma once

#include <memory>
#include <vector>

#include "machine/mpam/bandwidth_partitions.h"
#include "machine/mpam/cache_partitions.h"
#include "machine/mpam/monitors.h"

namespace bulkhead::machine::mpam {

struct resource {
    // `cache_shape`: geometry of the cache level; null: memory with `channels` channels, each with bus `bus`.
    resource(const resource_settings &wanted, const partition_map &map, const cache_geometry *cache_shape,
             std::size_t channels, const bus_speed &bus)
        : of(wanted), controls(map.internal_count(), partition_controls(wanted))
    {
        if (cache_shape != nullptr) {
            cache = std::make_unique<cache_partitions>(of, *cache_shape, map, controls);
        } else {
            bandwidth = std::make_unique<bandwidth_partitions>(of, bus, channels, map, controls);
        }
        storage.resize(of.storage_monitors ? of.storage_monitors->count : 0);
        if (of.bandwidth_monitors) {
            moved.resize(of.bandwidth_monitors->count, bandwidth_monitor(*of.bandwidth_monitors));
        }
    }
    resource(const resource &) = delete;
    resource &operator=(const resource &) = delete;
    ~resource() = default;

    resource_settings of;
    std::vector<partition_controls> controls;        // by internal PARTID
    std::unique_ptr<cache_partitions> cache;         // null: the instance is memory
    std::unique_ptr<bandwidth_partitions> bandwidth; // null: the instance is a cache
    std::vector<storage_monitor> storage;
    std::vector<bandwidth_monitor> moved;
};

} // namespace bulkhead::machine::mpam
