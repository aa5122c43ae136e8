// SPDX-License-Identifier: Apache-2.0
// A memory manager with the memory of a board, for the tests of core/mxu_memory.h and the fuzz target.
#pragma once

#include "core/mxu_crossing.h"
#include "core/mxu_memory.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace bulkhead_test {

struct MxuWorld {
    static constexpr std::uint32_t component_count = 3;
    static constexpr std::uint32_t allocation_count = 24;

    mxu_hardware hardware{};
    mxu_account account{};
    std::vector<mxu_frame> frame_array;
    mxu_frames frames{};
    std::vector<mxu_node> nodes;
    std::vector<mxu_range> ranges;
    std::array<mxu_component, component_count> components{};
    std::array<mxu_allocation, allocation_count> allocations{};
    std::array<mxu_span, allocation_count> spans{};
    mxu_memory memory{};
    std::uint32_t number = 0;
    mxu_answer answer{};

    MxuWorld(const MxuWorld &) = delete;
    MxuWorld &operator=(const MxuWorld &) = delete;

    // Cortex-M7: 256 KiB from 0x20000000 in frames of 1 KiB, 8 regions, 2 of them the system's.
    static std::unique_ptr<MxuWorld> mpu(mxu_policy policy = MXU_ROUND_ROBIN)
    {
        const mxu_hardware hardware{MXU_MPU, {8, 0, 0, 0, 0, 0, 0}, 2, 0, 0, 0};
        return std::unique_ptr<MxuWorld>(new MxuWorld(hardware, 256, 0x20000000, 10, policy));
    }

    // Cortex-A9: 4 MiB from 0x10000000, 4 lockable entries, 40 KiB of OCM, 64 KiB of ways, 2 ASIDs.
    static std::unique_ptr<MxuWorld> mmu(bool colored = false)
    {
        const mxu_hardware hardware{MXU_MMU, {0, 4, 40960, 65536, 0, 2, 64}, 0, 2, 2, 0};
        auto world = std::unique_ptr<MxuWorld>(new MxuWorld(hardware, 1024, 0x10000000, 12, MXU_ROUND_ROBIN));
        if (colored) {
            world->memory.main_tlb = {64, 2};
            for (std::uint32_t i = 0; i < component_count; ++i) {
                world->components[i].tlb.sets = UINT64_C(0xFFFF) << 16 * i;
            }
        }
        return world;
    }

    mxu_ask ask(std::uint32_t component, std::uint32_t bytes, std::uint32_t spec = 0,
                std::uint32_t shared = 0) const
    {
        return {component, bytes, spec, MXU_READ | MXU_WRITE, MXU_MEMORY_NORMAL, 0, shared};
    }
    mxu_status malloc(const mxu_ask &ask) { return mxu_malloc(&memory, &ask, nullptr, &number, &answer); }
    mxu_status malloc_at(std::uint32_t address, const mxu_ask &ask)
    {
        return mxu_malloc(&memory, &ask, &address, &number, &answer);
    }
    mxu_status shmget(const mxu_ask &ask) { return mxu_shmget(&memory, &ask, &number, &answer); }
    const mxu_allocation &last() const { return allocations[number]; }

private:
    MxuWorld(const mxu_hardware &of, std::uint32_t frame_count, std::uint32_t first, std::uint32_t bits,
             mxu_policy policy)
        : hardware(of), frame_array(frame_count), nodes(component_count * 64), ranges(component_count * 32)
    {
        account.hardware = &hardware;
        mxu_frames_init(&frames, frame_array.data(), frame_count, first, bits);
        for (std::uint32_t i = 0; i < component_count; ++i) {
            mxu_trie_init(&components[i].trie, &nodes[i * 64], 64, &ranges[i * 32], 32, MXU_PLACE_PLAIN);
            if (hardware.checker == MXU_MPU) {
                static constexpr mxu_slot system[2] = {{0x08000000, 0x06000027}, {0x40000000, 0x13000013}};
                mxu_regions_init(&components[i].regions, 8, system, 2, policy, i + 1);
            }
        }
        memory.account = &account;
        memory.frames = &frames;
        memory.components = components.data();
        memory.allocations = allocations.data();
        memory.spans = spans.data();
        memory.component_count = component_count;
        memory.allocation_count = allocation_count;
        memory.most_region_bits = 32;
        memory.longest_access = MXU_LONGEST_ACCESS;
        memory.entry_sizes = MXU_ENTRY_SMALL | MXU_ENTRY_LARGE | MXU_ENTRY_SECTION | MXU_ENTRY_SUPERSECTION;
        memory.tables = &mxu_armv7a_tables;
    }
};

} // namespace bulkhead_test
