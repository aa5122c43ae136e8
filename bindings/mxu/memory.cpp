// SPDX-License-Identifier: Apache-2.0
// The memory manager's records (core/mxu_memory.h) with the same array sizes as in the microkernel: the tool
// makes the same allocations in the same order, so it gets the same results.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/mxu/convert.h"

#include "core/mxu_crossing.h"
#include "core/mxu_memory.h"

namespace {

namespace nb = nanobind;
using mxu_binding::require;

constexpr std::uint32_t most_frames = 1u << 24;
constexpr std::uint32_t most_components = 1u << 10;
constexpr std::uint32_t most_allocations = 1u << 16;
constexpr std::uint32_t address_bits = 32;

// Status, result, and the number of the allocation if there is one.
using outcome = std::tuple<std::uint32_t, mxu_answer, std::optional<std::uint32_t>>;

struct sizes {
    std::uint32_t components = 0;
    std::uint32_t allocations = 0;
    std::uint32_t ranges = 0; // of a component
    std::uint32_t nodes = 0;
};

struct books {
    mxu_hardware hardware;
    mxu_account account{};
    mxu_frames frames{};
    mxu_memory memory{};
    std::vector<mxu_frame> frame;
    std::vector<mxu_component> components;
    std::vector<mxu_allocation> allocations;
    std::vector<mxu_span> spans;
    std::vector<std::vector<mxu_range>> ranges;
    std::vector<std::vector<mxu_node>> nodes;

    books(const mxu_hardware &of, std::uint32_t first, std::uint32_t frame_bits, std::uint32_t frame_count,
          const sizes &room)
        : hardware(of)
    {
        require(frame_count > 0 && frame_count <= most_frames, "the number of frames");
        require(room.components > 0 && room.components <= most_components, "the number of components");
        require(room.allocations > 0 && room.allocations <= most_allocations, "the number of allocations");
        require(room.ranges > 0 && room.ranges <= MXU_TRIE_MAX_RANGES, "the number of ranges");
        require(room.nodes > 0 && room.nodes <= MXU_TRIE_MAX_NODES, "the number of nodes");
        frame.resize(frame_count);
        require(mxu_frames_init(&frames, frame.data(), frame_count, first, frame_bits), "a frame");
        components.resize(room.components);
        allocations.resize(room.allocations);
        spans.resize(room.allocations);
        ranges.assign(room.components, std::vector<mxu_range>(room.ranges));
        nodes.assign(room.components, std::vector<mxu_node>(room.nodes));
        account.hardware = &hardware;
        memory.account = &account;
        memory.frames = &frames;
        memory.components = components.data();
        memory.allocations = allocations.data();
        memory.spans = spans.data();
        memory.component_count = room.components;
        memory.allocation_count = room.allocations;
        memory.tables = &mxu_armv7a_tables;
        memory.most_region_bits = address_bits;
        memory.longest_access = MXU_LONGEST_ACCESS;
        for (std::uint32_t i = 0; i < room.components; i++) {
            mxu_trie_init(&components[i].trie, nodes[i].data(), static_cast<std::uint16_t>(room.nodes),
                          ranges[i].data(), static_cast<std::uint16_t>(room.ranges), MXU_PLACE_PLAIN);
        }
    }
    books(const books &) = delete;
    books &operator=(const books &) = delete;
    books(books &&) = delete;
    books &operator=(books &&) = delete;
    ~books() = default;

    void mpu(std::uint32_t policy, std::uint32_t most_region_bits)
    {
        static const mxu_slot system[MXU_MOST_REGIONS]{};

        require(hardware.limit[MXU_REGIONS] <= MXU_MOST_REGIONS, "the number of regions");
        require(hardware.system_regions < hardware.limit[MXU_REGIONS], "the number of the system's regions");
        require(policy <= MXU_BIT_PLRU, "a policy");
        require(most_region_bits >= frames.frame_bits && most_region_bits <= address_bits,
                "the size of a region");
        memory.most_region_bits = most_region_bits;
        for (std::uint32_t i = 0; i < memory.component_count; i++) {
            require(mxu_regions_init(&components[i].regions, hardware.limit[MXU_REGIONS], system,
                                     hardware.system_regions, static_cast<mxu_policy>(policy), i + 1),
                    "an image");
        }
    }

    std::uint32_t component(std::uint32_t number) const
    {
        require(number < memory.component_count, "a component");
        return number;
    }

    const mxu_allocation &allocation(std::uint32_t number) const
    {
        require(number < memory.allocation_count && allocations[number].bytes != 0, "an allocation");
        return allocations[number];
    }

    outcome malloc(std::uint32_t owner, std::uint32_t bytes, std::uint32_t spec, std::uint32_t rights,
                   std::uint32_t shared, std::optional<std::uint32_t> address)
    {
        mxu_ask ask{};
        mxu_answer answer{};
        std::uint32_t number = 0;

        require(shared == MXU_NOT_SHARED || !address.has_value(), "an address of shared memory");
        ask.component = component(owner);
        ask.bytes = bytes;
        ask.spec = spec;
        ask.rights = rights;
        ask.type = MXU_MEMORY_NORMAL;
        ask.shared = shared;
        const mxu_status status =
            shared != MXU_NOT_SHARED
                ? mxu_shmget(&memory, &ask, &number, &answer)
                : mxu_malloc(&memory, &ask, address.has_value() ? &*address : nullptr, &number, &answer);
        return {static_cast<std::uint32_t>(status), answer,
                status == MXU_OK ? std::optional<std::uint32_t>(number) : std::nullopt};
    }

    // Frames for the kernel: a component's ranges and tables. False if there are not enough contiguous
    // frames.
    bool give(std::uint32_t count)
    {
        mxu_run run{};

        require(count > 0 && count <= frames.count, "a number of frames");
        return mxu_frames_find(&frames, count, frames.frame_bits, address_bits, &run) == MXU_OK &&
               mxu_frames_claim(&frames, run, MXU_FRAME_KERNEL) == MXU_OK;
    }

    // Ranges of an allocation in its component's trie.
    std::uint32_t ranges_of(std::uint32_t number) const
    {
        const mxu_trie &trie = components[allocation(number).component].trie;
        std::uint32_t count = 0;

        for (std::int16_t i = trie.first; i != MXU_NONE; i = trie.ranges[i].next) {
            count += trie.ranges[i].allocation == number ? 1u : 0u;
        }
        return count;
    }

    std::uint32_t dynamic_slots(std::uint32_t number) const
    {
        return mxu_regions_dynamic(&components[component(number)].regions);
    }

    std::uint32_t needed_at_once(std::uint32_t number) const
    {
        const mxu_component &of = components[component(number)];
        return mxu_crossing_needed(&of.trie, &of.regions, memory.longest_access);
    }

    std::uint32_t left(std::uint32_t resource) const
    {
        require(resource < MXU_RESOURCES, "a resource");
        return mxu_left(&account, static_cast<mxu_resource>(resource));
    }

    std::uint32_t free_frames() const
    {
        return static_cast<std::uint32_t>(std::count_if(
            frame.begin(), frame.end(), [](const mxu_frame &one) { return one.kind == MXU_FRAME_FREE; }));
    }
};

} // namespace

void mxu_binding::add_memory(nb::module_ &module)
{
    nb::class_<books>(module, "Memory")
        .def(
            "__init__",
            [](books *self, const mxu_hardware &hardware, std::uint32_t first, std::uint32_t frame_bits,
               std::uint32_t frame_count, std::uint32_t components, std::uint32_t allocations,
               std::uint32_t ranges, std::uint32_t nodes) {
                new (self)
                    books(hardware, first, frame_bits, frame_count, {components, allocations, ranges, nodes});
            },
            nb::arg("hardware"), nb::kw_only(), nb::arg("first"), nb::arg("frame_bits"),
            nb::arg("frame_count"), nb::arg("components"), nb::arg("allocations"), nb::arg("ranges"),
            nb::arg("nodes"))
        .def("mpu", &books::mpu, nb::arg("policy"), nb::arg("most_region_bits"))
        .def(
            "mmu", [](books &self, std::uint32_t entry_sizes) { self.memory.entry_sizes = entry_sizes; },
            nb::arg("entry_sizes"))
        .def("malloc", &books::malloc, nb::arg("component"), nb::kw_only(), nb::arg("bytes"), nb::arg("spec"),
             nb::arg("rights"), nb::arg("shared") = MXU_NOT_SHARED, nb::arg("address") = nb::none())
        .def("give", &books::give, nb::arg("frames"))
        .def(
            "span",
            [](const books &self, std::uint32_t number) {
                const mxu_allocation &of = self.allocation(number);
                return std::pair<std::uint32_t, std::uint32_t>{of.first, of.bytes};
            },
            nb::arg("allocation"))
        .def("ranges", &books::ranges_of, nb::arg("allocation"))
        .def(
            "nodes_taken",
            [](const books &self, std::uint32_t number) {
                return self.components[self.component(number)].taken;
            },
            nb::arg("component"))
        .def("dynamic_slots", &books::dynamic_slots, nb::arg("component"))
        .def("needed_at_once", &books::needed_at_once, nb::arg("component"))
        .def("left", &books::left, nb::arg("resource"))
        .def("free_frames", &books::free_frames)
        .def("is_sound", [](const books &self) { return mxu_memory_is_sound(&self.memory); });
}
