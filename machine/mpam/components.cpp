// SPDX-License-Identifier: Apache-2.0
// Connections only; see the header.
#include "machine/mpam/components.h"

#include <algorithm>

namespace bulkhead::machine::mpam {

namespace {

shared_level *level_of(memory_system &memory, const resource_settings &of)
{
    for (std::size_t i = 0; i < memory.level_count(); ++i) {
        if (memory.level(i).settings().name == of.level) {
            return &memory.level(i);
        }
    }
    return nullptr;
}

// The number of parts into which portions divide the sets: if there are more portions than ways, portions are
// parts of ways.
std::size_t set_parts(const resource_settings &of, const cache_geometry &shape)
{
    if (of.portions_are == portion_kind::sets) {
        return std::max(1U, of.portions);
    }
    return std::max(1U, of.portions / shape.ways());
}

} // namespace

components::components(const settings &wanted, memory_system &memory) : settings_(*wanted.mpam)
{
    const component::surroundings around{
        .shape_of = [&memory](const resource_settings &of) -> const cache_geometry * {
            const shared_level *const level = level_of(memory, of);
            return level != nullptr ? &level->storage().geometry() : nullptr;
        },
        .channels = memory.memory().channels(),
        .bus = {wanted.dram.shape.burst.value, wanted.dram.timings.burst * wanted.dram.timings.period_fs},
        .settle = [&memory](picoseconds now) { memory.memory().settle(now); },
    };
    for (const component_settings &one : settings_.components) {
        all_.push_back(std::make_unique<component>(settings_, one, around));
    }
    for (std::size_t i = 0; i < memory.level_count(); ++i) {
        memory.level(i).storage().keep_labels(nullptr);
    }
    for (const std::unique_ptr<component> &one : all_) {
        for (std::size_t ris = 0; ris < one->instance_count(); ++ris) {
            resource &own = one->instance(ris);
            if (own.cache != nullptr) {
                cache &level = level_of(memory, own.of)->storage();
                level.keep_labels(own.cache.get());
                level.statistics().count_places(level.geometry().ways(), set_parts(own.of, level.geometry()));
            } else {
                memory.memory().set_bandwidth_control(own.bandwidth.get());
            }
        }
    }
}

} // namespace bulkhead::machine::mpam
