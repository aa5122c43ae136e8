// SPDX-License-Identifier: Apache-2.0
// The Python module: admission of specifications, regions of an MPU, misses of a job, table nodes and
// lockable TLB entries, as the microkernel's memory manager computes them. Enumerations are passed as
// integers, spans as pairs of the first and the last address. Values that core/ does not accept raise
// ValueError.
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/mxu/convert.h"

#include "core/mxu_admission.h"
#include "core/mxu_crossing.h"
#include "core/mxu_misses.h"
#include "core/mxu_mpu.h"
#include "core/mxu_tables.h"
#include "core/mxu_tlb.h"

namespace {

namespace nb = nanobind;
using mxu_binding::require;

using span = std::pair<std::uint64_t, std::uint64_t>;
using phase = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>; // ranges, touch, changes

constexpr std::uint32_t address_bits = 32;
constexpr std::uint32_t most_level = 3;
constexpr std::uint32_t most_slots = 16; // of core/mxu_eviction.h

std::vector<std::uint32_t> taken_of(const mxu_answer &answer)
{
    return {std::begin(answer.taken), std::end(answer.taken)};
}

void set_limits(mxu_hardware &hardware, const std::vector<std::uint32_t> &limits)
{
    require(limits.size() == MXU_RESOURCES, "the number of limits");
    std::copy(limits.begin(), limits.end(), std::begin(hardware.limit));
}

void set_levels(mxu_hardware &hardware, std::uint32_t ocm, std::uint32_t way, std::uint32_t color)
{
    require(ocm <= most_level && way <= most_level && color <= most_level, "a level");
    hardware.ocm_level = static_cast<std::uint8_t>(ocm);
    hardware.way_level = static_cast<std::uint8_t>(way);
    hardware.color_level = static_cast<std::uint8_t>(color);
}

// The resources that all components take together.
struct account {
    mxu_hardware hardware;
    mxu_account state{};

    explicit account(const mxu_hardware &of) : hardware(of) { state.hardware = &hardware; }
    account(const account &) = delete;
    account &operator=(const account &) = delete;
    account(account &&) = delete;
    account &operator=(account &&) = delete;
    ~account() = default;

    std::pair<std::uint32_t, mxu_answer> admit(const mxu_request &request)
    {
        mxu_answer answer{};
        const mxu_status status = mxu_admit(&state, &request, &answer);
        return {static_cast<std::uint32_t>(status), answer};
    }

    void release(const mxu_answer &answer)
    {
        for (std::uint32_t i = 0; i < MXU_RESOURCES; i++) {
            require(i == MXU_REGIONS || answer.taken[i] <= state.used[i], "what is given back");
        }
        mxu_release(&state, &answer);
    }

    std::uint32_t left(std::uint32_t resource) const
    {
        require(resource < MXU_RESOURCES, "a resource");
        return mxu_left(&state, static_cast<mxu_resource>(resource));
    }
};

std::vector<span> regions_of(std::uint32_t first, std::uint32_t last, std::uint32_t most_bits)
{
    require(most_bits >= MXU_MPU_MIN_BITS && most_bits <= address_bits, "the size of a region");
    const std::uint32_t count = mxu_mpu_cover(first, last, most_bits, 0, nullptr, 0);
    std::vector<mxu_region> regions(count);
    std::vector<span> found;

    (void)mxu_mpu_cover(first, last, most_bits, 0, regions.data(), count);
    for (const mxu_region &region : regions) {
        found.emplace_back(region.first, region.last);
    }
    return found;
}

// Size, alignment and block, in bytes; all zero if there is none.
std::tuple<std::uint32_t, std::uint64_t, std::uint64_t> fit(std::uint32_t bytes)
{
    std::uint32_t rounded = 0;
    std::uint32_t align_bits = 0;
    std::uint32_t block_bits = 0;

    if (bytes == 0 || !mxu_mpu_fit(bytes, &rounded, &align_bits, &block_bits)) {
        return {0, 0, 0};
    }
    return {rounded, std::uint64_t{1} << align_bits, std::uint64_t{1} << block_bits};
}

// Bytes of the table nodes of Armv7-A's short descriptors that map these spans.
std::uint64_t armv7a_table_bytes(const std::vector<span> &spans)
{
    std::vector<mxu_span> list;
    mxu_table_need need{};

    for (const auto &[first, last] : spans) {
        list.push_back({.first = first, .last = last, .most_shift = 0, .reserved = 0});
    }
    require(
        mxu_tables_needed(&mxu_armv7a_tables, list.data(), static_cast<std::uint32_t>(list.size()), &need),
        "a span");
    return need.bytes;
}

// The same for AArch64's tables; each span with log2 of the largest entry that its alignment allows.
std::uint64_t
aarch64_table_bytes(const std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>> &spans,
                    std::uint32_t first_level, std::uint32_t root_bits)
{
    std::vector<mxu_span> list;
    mxu_table_need need{};

    require(first_level <= 2 && root_bits >= 1 && root_bits <= 13, "a first level or a root");
    const mxu_table_shape shape = mxu_aarch64_tables(first_level, root_bits, true);
    for (const auto &[first, last, most_shift] : spans) {
        list.push_back({.first = first, .last = last, .most_shift = most_shift, .reserved = 0});
    }
    require(mxu_tables_needed(&shape, list.data(), static_cast<std::uint32_t>(list.size()), &need), "a span");
    return need.bytes;
}

mxu_policy policy_of(std::uint32_t policy)
{
    require(policy <= MXU_BIT_PLRU, "a policy");
    return static_cast<mxu_policy>(policy);
}

mxu_dynamic dynamic_of(std::uint32_t slots, std::uint32_t policy, std::uint64_t refill_ns)
{
    require(slots <= most_slots, "the number of slots");
    return {slots, policy_of(policy), refill_ns};
}

// Status; misses, their cost and the WCET with them.
std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t>
admit_job(const std::vector<phase> &phases, const mxu_dynamic &dynamic, std::uint64_t wcet_ns,
          std::uint64_t budget_ns)
{
    std::vector<mxu_phase> list;
    mxu_misses misses{};
    mxu_job job{};

    for (const auto &[ranges, touch, changes] : phases) {
        list.push_back({ranges, touch, changes});
    }
    job.phases = list.data();
    job.phase_count = static_cast<std::uint32_t>(list.size());
    job.wcet_ns = wcet_ns;
    job.budget_ns = budget_ns;
    const mxu_status status = mxu_job_admit(&job, &dynamic, &misses);
    return {static_cast<std::uint32_t>(status), misses.misses, misses.cost_ns, misses.wcet_ns};
}

// Misses of one instruction that needs `touch` ranges at once.
std::uint64_t instruction_misses(std::uint32_t touch, const mxu_dynamic &dynamic)
{
    const mxu_phase one{touch, touch, 0};

    return mxu_phase_misses(&one, &dynamic, false);
}

void add_admission(nb::module_ &module)
{
    nb::class_<mxu_hardware>(module, "Hardware")
        .def(nb::init<>())
        .def_prop_rw(
            "mmu", [](const mxu_hardware &self) { return self.checker == MXU_MMU; },
            [](mxu_hardware &self, bool mmu) { self.checker = mmu ? MXU_MMU : MXU_MPU; })
        .def_prop_rw(
            "limits",
            [](const mxu_hardware &self) {
                return std::vector<std::uint32_t>{std::begin(self.limit), std::end(self.limit)};
            },
            &set_limits)
        .def_rw("system_regions", &mxu_hardware::system_regions)
        .def("levels", &set_levels, nb::kw_only(), nb::arg("ocm"), nb::arg("way"), nb::arg("color"));
    nb::class_<mxu_request>(module, "Request")
        .def(nb::init<>())
        .def_rw("spec", &mxu_request::spec)
        .def_rw("regions", &mxu_request::regions)
        .def_rw("regions_used", &mxu_request::regions_used)
        .def_rw("locked_entries", &mxu_request::locked_entries)
        .def_rw("node_bytes", &mxu_request::node_bytes)
        .def_rw("ocm_node_bytes", &mxu_request::ocm_node_bytes)
        .def_rw("tlb_sets", &mxu_request::tlb_sets)
        .def_rw("has_tlb_sets", &mxu_request::has_tlb_sets)
        .def_rw("has_asid", &mxu_request::has_asid);
    nb::class_<mxu_answer>(module, "Answer")
        .def_prop_ro("mechanism",
                     [](const mxu_answer &self) { return static_cast<std::uint32_t>(self.mechanism); })
        .def_prop_ro("independence",
                     [](const mxu_answer &self) { return static_cast<std::uint32_t>(self.independence); })
        .def_prop_ro("taken", &taken_of)
        .def_prop_ro("lacking",
                     [](const mxu_answer &self) { return static_cast<std::uint32_t>(self.lacking); })
        .def_ro("needed", &mxu_answer::needed)
        .def_ro("left", &mxu_answer::left);
    nb::class_<account>(module, "Account")
        .def(nb::init<const mxu_hardware &>(), nb::arg("hardware"))
        .def("admit", &account::admit, nb::arg("request"))
        .def("release", &account::release, nb::arg("answer"))
        .def("left", &account::left, nb::arg("resource"));
}

void add_names(nb::module_ &module)
{
    module.def("status_name", [](std::uint32_t value) {
        return std::string(mxu_status_name(static_cast<mxu_status>(value)));
    });
    module.def("mechanism_name", [](std::uint32_t value) {
        return std::string(mxu_mechanism_name(static_cast<mxu_mechanism>(value)));
    });
    module.def("resource_name", [](std::uint32_t value) {
        return std::string(mxu_resource_name(static_cast<mxu_resource>(value)));
    });
}

} // namespace

NB_MODULE(_mxu, module) // NOLINT(performance-unnecessary-value-param): the macro declares it
{
    module.doc() = "core/'s policy of memory access control.";
    add_admission(module);
    add_names(module);
    mxu_binding::add_memory(module);
    mxu_binding::add_description(module);
    nb::class_<mxu_dynamic>(module, "Dynamic")
        .def(
            "__init__",
            [](mxu_dynamic *self, std::uint32_t slots, std::uint32_t policy, std::uint64_t refill_ns) {
                new (self) mxu_dynamic(dynamic_of(slots, policy, refill_ns));
            },
            nb::arg("slots"), nb::arg("policy"), nb::arg("refill_ns"));
    module.def("regions", &regions_of, nb::arg("first"), nb::arg("last"), nb::arg("most_bits"));
    module.def("fit", &fit, nb::arg("bytes"));
    module.def("locked_entries", &mxu_locked_entries, nb::arg("virtual_first"), nb::arg("physical_first"),
               nb::arg("bytes"), nb::arg("sizes"));
    module.def("armv7a_table_bytes", &armv7a_table_bytes, nb::arg("spans"));
    module.def("aarch64_table_bytes", &aarch64_table_bytes, nb::arg("spans"), nb::kw_only(),
               nb::arg("first_level"), nb::arg("root_bits"));
    module.def("admit_job", &admit_job, nb::arg("phases"), nb::arg("dynamic"), nb::arg("wcet_ns"),
               nb::arg("budget_ns"));
    module.def("instruction_misses", &instruction_misses, nb::arg("touch"), nb::arg("dynamic"));
    module.def(
        "kept",
        [](std::uint32_t policy, std::uint32_t slots) { return mxu_crossing_kept(policy_of(policy), slots); },
        nb::arg("policy"), nb::arg("slots"));
}
