// SPDX-License-Identifier: Apache-2.0
// The Python module: what an MPAM component makes of settings, and how a cache is divided. Shares are passed
// as pairs of integers, bitmaps as 32-bit words, the lowest first. Values that core/ does not accept raise
// ValueError.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "core/mpam_decode.h"
#include "core/mpam_plan.h"
#include "core/mpam_registers.h"
#include "core/mpam_settings.h"

namespace {

namespace nb = nanobind;

using share = std::pair<std::uint32_t, std::uint32_t>;
using words = std::vector<std::uint32_t>;

void require(bool holds, const char *what)
{
    if (!holds) {
        throw std::invalid_argument(std::string(what) + " is out of range");
    }
}

mpam_share share_of(const share &value)
{
    require(value.second != 0 && value.first <= value.second, "a share");
    return {value.first, value.second};
}

mpam_portions portions_of(const words &value)
{
    mpam_portions portions{};
    require(value.size() <= MPAM_PORTION_WORDS, "a bitmap");
    std::copy(value.begin(), value.end(), std::begin(portions.word));
    return portions;
}

words words_of(const mpam_portions &portions)
{
    return {std::begin(portions.word), std::end(portions.word)};
}

void require_features(const mpam_features &of)
{
    require(of.cache_portions <= MPAM_MAX_PORTIONS && of.bandwidth_portions <= MPAM_MAX_PORTIONS,
            "a number of portions");
    require(of.capacity_bits <= MPAM_FRACTION_BITS && of.associativity_bits <= MPAM_FRACTION_BITS &&
                of.bandwidth_bits <= MPAM_FRACTION_BITS && of.internal.bits <= MPAM_FRACTION_BITS &&
                of.downstream.bits <= MPAM_FRACTION_BITS,
            "a width");
    require((of.capacity_bits > 0 || !(of.has_cmax || of.has_cmin)) &&
                (of.bandwidth_bits > 0 || !(of.has_max || of.has_min || of.has_proportional)),
            "a width");
}

// Property for a share of the settings, or for their bitmap.
template <mpam_share mpam_settings::*member>
void share_property(nb::class_<mpam_settings> &of, const char *name)
{
    of.def_prop_rw(
        name,
        [](const mpam_settings &self) {
            return share{(self.*member).part, (self.*member).of};
        },
        [](mpam_settings &self, const share &value) { self.*member = share_of(value); });
}

template <mpam_portions mpam_settings::*member>
void portions_property(nb::class_<mpam_settings> &of, const char *name)
{
    of.def_prop_rw(
        name, [](const mpam_settings &self) { return words_of(self.*member); },
        [](mpam_settings &self, const words &value) { self.*member = portions_of(value); });
}

std::pair<std::uint32_t, std::uint32_t> check(const mpam_features &of, const mpam_settings &settings)
{
    require_features(of);
    const mpam_verdict verdict = mpam_settings_check(&of, &settings);
    return {static_cast<std::uint32_t>(verdict.refusal), verdict.control};
}

mpam_settings got(const mpam_features &of, const mpam_settings &settings)
{
    mpam_writes writes{};
    mpam_settings found{};
    require(check(of, settings).first == MPAM_ACCEPTED, "a setting");
    mpam_settings_writes(&of, &settings, 0, 0, &writes);
    mpam_settings_decode(&of, &writes, &found);
    return found;
}

// Offsets and values of the 32-bit writes that give `partid` of instance `ris` accepted settings.
std::vector<std::pair<std::uint32_t, std::uint32_t>>
writes_of(const mpam_features &of, const mpam_settings &settings, std::uint32_t ris, std::uint32_t partid)
{
    mpam_writes writes{};
    require(check(of, settings).first == MPAM_ACCEPTED, "a setting");
    require(ris <= MPAMF_IDR_RIS_MAX && partid <= MPAMF_IDR_PARTID_MAX, "an instance or a PARTID");
    mpam_settings_writes(&of, &settings, ris, partid, &writes);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    for (std::uint32_t i = 0; i < writes.count; ++i) {
        found.emplace_back(writes.write[i].offset, writes.write[i].value);
    }
    return found;
}

// Takes the requests of all owners; returns the portions of each.
struct division {
    std::vector<mpam_request> requests;
    std::vector<mpam_grant> grants;
    mpam_division result{};

    void rest(bool realtime, bool hypervisor)
    {
        mpam_request request{};
        request.amount = MPAM_AMOUNT_REST;
        request.realtime = realtime;
        request.hypervisor = hypervisor;
        requests.push_back(request);
    }

    void part(const share &value, bool hypervisor)
    {
        mpam_request request{};
        request.amount = MPAM_AMOUNT_SHARE;
        request.share = share_of(value);
        request.hypervisor = hypervisor;
        requests.push_back(request);
    }

    void exact(const words &portions, bool shared)
    {
        mpam_request request{};
        request.amount = MPAM_AMOUNT_EXACT;
        request.portions = portions_of(portions);
        request.shared = shared;
        requests.push_back(request);
    }

    void by_portions(std::uint32_t of)
    {
        require(of >= 1 && of <= MPAM_MAX_PORTIONS, "the number of portions");
        grants.assign(requests.size(), {});
        result = mpam_divide_portions(of, requests.data(), static_cast<std::uint32_t>(requests.size()),
                                      grants.data());
    }

    void by_capacity(std::uint32_t width)
    {
        require(width >= 1 && width <= MPAM_FRACTION_BITS, "the width");
        for (const mpam_request &request : requests) {
            require(request.amount != MPAM_AMOUNT_EXACT, "an amount");
        }
        grants.assign(requests.size(), {});
        result = mpam_divide_capacity(width, requests.data(), static_cast<std::uint32_t>(requests.size()),
                                      grants.data());
    }

    std::uint32_t steps(std::size_t owner) const { return grants.at(owner).steps; }
    words portions(std::size_t owner) const { return words_of(grants.at(owner).portions); }
};

std::uint64_t guarantees_sum(std::uint32_t width, const std::vector<share> &shares)
{
    std::vector<mpam_share> list;
    require(width >= 1 && width <= MPAM_FRACTION_BITS, "the width");
    for (const share &value : shares) {
        list.push_back(share_of(value));
    }
    return mpam_guarantees_sum(width, list.data(), static_cast<std::uint32_t>(list.size()));
}

std::pair<bool, share> rounded(bool (*round)(mpam_share, std::uint32_t, mpam_fraction *), const share &value,
                               std::uint32_t width)
{
    mpam_fraction found{};
    require(width >= 1 && width <= MPAM_FRACTION_BITS, "the width");
    const bool fits = round(share_of(value), width, &found);
    return {fits, {found.got.part, found.got.of}};
}

void add_features(nb::module_ &module)
{
    nb::class_<mpam_features>(module, "Features")
        .def(nb::init<>())
        .def_rw("cache_portions", &mpam_features::cache_portions)
        .def_rw("capacity_bits", &mpam_features::capacity_bits)
        .def_rw("has_cmax", &mpam_features::has_cmax)
        .def_rw("has_cmin", &mpam_features::has_cmin)
        .def_rw("has_soft_cmax", &mpam_features::has_soft_cmax)
        .def_rw("associativity_bits", &mpam_features::associativity_bits)
        .def_rw("bandwidth_bits", &mpam_features::bandwidth_bits)
        .def_rw("has_min", &mpam_features::has_min)
        .def_rw("has_max", &mpam_features::has_max)
        .def_rw("has_proportional", &mpam_features::has_proportional)
        .def_rw("window_writable", &mpam_features::window_writable)
        .def_rw("bandwidth_portions", &mpam_features::bandwidth_portions)
        .def("internal",
             [](mpam_features &self, std::uint32_t bits, bool low) {
                 self.internal = {bits, low};
             })
        .def("downstream", [](mpam_features &self, std::uint32_t bits, bool low) {
            self.downstream = {bits, low};
        });
}

void add_settings(nb::module_ &module)
{
    nb::class_<mpam_settings> settings(module, "Settings");
    settings.def(nb::init<>())
        .def_rw("asked", &mpam_settings::asked)
        .def_rw("stride", &mpam_settings::stride)
        .def_rw("internal_priority", &mpam_settings::internal_priority)
        .def_rw("downstream_priority", &mpam_settings::downstream_priority)
        .def_rw("window_us", &mpam_settings::window_us);
    share_property<&mpam_settings::cmax>(settings, "cmax");
    share_property<&mpam_settings::cmin>(settings, "cmin");
    share_property<&mpam_settings::associativity>(settings, "associativity");
    share_property<&mpam_settings::mbw_min>(settings, "mbw_min");
    share_property<&mpam_settings::mbw_max>(settings, "mbw_max");
    portions_property<&mpam_settings::cache>(settings, "cache");
    portions_property<&mpam_settings::bandwidth>(settings, "bandwidth");
}

} // namespace

NB_MODULE(_mpam, module) // NOLINT(performance-unnecessary-value-param): the macro declares it
{
    module.doc() = "core/'s settings of MPAM components and division of caches.";
    add_features(module);
    add_settings(module);
    nb::class_<mpam_division>(module, "Result")
        .def_prop_ro("refusal",
                     [](const mpam_division &self) { return static_cast<std::uint32_t>(self.refusal); })
        .def_ro("request", &mpam_division::request)
        .def_ro("other", &mpam_division::other)
        .def_ro("needed", &mpam_division::needed)
        .def_ro("left", &mpam_division::left);
    nb::class_<division>(module, "Division")
        .def(nb::init<>())
        .def("rest", &division::rest, nb::kw_only(), nb::arg("realtime"), nb::arg("hypervisor"))
        .def("share", &division::part, nb::arg("share"), nb::kw_only(), nb::arg("hypervisor"))
        .def("exact", &division::exact, nb::arg("portions"), nb::kw_only(), nb::arg("shared"))
        .def("by_portions", &division::by_portions, nb::arg("of"))
        .def("by_capacity", &division::by_capacity, nb::arg("width"))
        .def_ro("result", &division::result)
        .def("steps", &division::steps, nb::arg("owner"))
        .def("portions", &division::portions, nb::arg("owner"));
    module.def("check", &check, nb::arg("features"), nb::arg("settings"));
    module.def("got", &got, nb::arg("features"), nb::arg("settings"));
    module.def("writes", &writes_of, nb::arg("features"), nb::arg("settings"), nb::arg("ris"),
               nb::arg("partid"));
    module.def("guarantees_sum", &guarantees_sum, nb::arg("width"), nb::arg("shares"));
    module.def(
        "limit", [](const share &value, std::uint32_t width) { return rounded(mpam_limit, value, width); },
        nb::arg("share"), nb::arg("width"));
    module.def(
        "guarantee",
        [](const share &value, std::uint32_t width) { return rounded(mpam_guarantee, value, width); },
        nb::arg("share"), nb::arg("width"));
}
