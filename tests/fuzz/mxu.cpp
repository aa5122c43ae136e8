// SPDX-License-Identifier: Apache-2.0
// Target `mxu`: calls of three components for memory with specifications, on an MPU or an MMU, and accesses
// that fault. After each step all guarantees hold that mxu_memory_is_sound() checks, and no image of an MPU
// has a region over memory that is not its component's.
#include "input.h"
#include "require.h"

#include "core/mxu_memory.h"
#include "mxu_memory_world.h"

#include <algorithm>

namespace {

using bulkhead_fuzz::Input;
using bulkhead_fuzz::require;
using bulkhead_test::MxuWorld;

bool is_of(const MxuWorld &world, std::uint32_t component, std::uint64_t address)
{
    return std::any_of(world.allocations.begin(), world.allocations.end(), [&](const mxu_allocation &one) {
        return one.component == component && address >= one.first &&
               address < std::uint64_t{one.first} + one.bytes;
    });
}

void judge_images(const MxuWorld &world)
{
    const std::uint32_t frame = 1u << world.frames.frame_bits;

    for (std::uint32_t component = 0; component < MxuWorld::component_count; component++) {
        const mxu_regions &regions = world.components[component].regions;
        for (std::uint32_t slot = regions.system; slot < regions.count; slot++) {
            const mxu_slot &image = regions.image[slot];
            require((image.rbar & 15) == slot, "a slot with another's number");
            // One frame on each side of the memory, too, to detect accesses beyond it.
            for (std::uint32_t i = 0; i < world.frames.count + 2; i++) {
                const std::uint32_t at = world.frames.first - frame + i * frame;
                require(!mxu_mpu_covers(image.rbar, image.rasr, at, 1) || is_of(world, component, at),
                        "a region over memory of somebody else");
            }
        }
        require(!regions.watched, "an access that can live-lock");
    }
}

void access(MxuWorld &world, Input &input, std::uint32_t component)
{
    mxu_component &one = world.components[component];
    const std::uint32_t address = world.frames.first + input.u16() * 4u;
    const bool fetch = (input.u8() & 1) != 0;
    const mxu_range *range = mxu_trie_find(&one.trie, address);
    const bool loaded = range != nullptr && mxu_regions_holds(&one.regions, range);
    const mxu_slot *slot = fetch ? mxu_regions_refill_fetch(&one.regions, &one.trie, address)
                                 : mxu_regions_refill(&one.regions, &one.trie, address, input.u8());

    require((range != nullptr) == is_of(world, component, address),
            "memory without a range, or a range without memory");
    if (slot == nullptr) {
        require(range == nullptr || loaded, "a violation where there is none");
    } else {
        require(slot >= one.regions.image + one.regions.first_dynamic, "a static region was evicted");
        require(loaded || mxu_mpu_covers(slot->rbar, slot->rasr, address, 1),
                "the region does not have the address");
    }
}

mxu_ask ask_of(const MxuWorld &world, Input &input, std::uint32_t component)
{
    mxu_ask ask = world.ask(component, (input.u8() + 1u) << (input.u8() % 14), input.u8());
    ask.rights = input.u8() % 8;
    ask.type = static_cast<mxu_memory_type>(input.u8() % 3);
    ask.align = (input.u8() & 3) == 0 ? 1u << (input.u8() % 32) : 0;
    return ask;
}

void step(MxuWorld &world, Input &input)
{
    const std::uint8_t operation = input.u8();
    const std::uint32_t component = operation >> 4 & 3;
    mxu_ask ask{};

    switch (operation & 7) {
    case 0:
    case 1:
        ask = ask_of(world, input, component);
        (void)world.malloc(ask);
        break;
    case 2:
        ask = ask_of(world, input, component);
        (void)world.malloc_at(world.frames.first + (std::uint32_t{input.u16()} << (input.u8() % 13U)), ask);
        break;
    case 3:
        ask = ask_of(world, input, component);
        ask.shared = input.u8() % 4;
        (void)world.shmget(ask);
        break;
    case 4:
        (void)mxu_free(&world.memory, component,
                       world.allocations[input.u8() % MxuWorld::allocation_count].first);
        break;
    case 5:
        if (operation >= 0xE0) {
            mxu_free_all(&world.memory, component);
        }
        break;
    default:
        if (component < MxuWorld::component_count && world.hardware.checker == MXU_MPU) {
            access(world, input, component);
        }
        break;
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    Input input(data, bytes);
    const std::uint8_t kind = input.u8();
    const auto world = (kind & 1) != 0 ? MxuWorld::mmu((kind & 2) != 0)
                                       : MxuWorld::mpu(static_cast<mxu_policy>(kind / 2 % 3));

    world->memory.most_region_bits = world->hardware.checker == MXU_MPU && kind >= 128 ? 11 : 32;
    while (!input.empty()) {
        step(*world, input);
        require(mxu_memory_is_sound(&world->memory), "a guarantee does not hold");
        if (world->hardware.checker == MXU_MPU) {
            judge_images(*world);
        }
    }
    return 0;
}
