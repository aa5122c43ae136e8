// SPDX-License-Identifier: Apache-2.0
// The Python module: the check that a hypervisor makes of its manifest at boot. BULKHEAD_MODULE names the
// module; the objects that it is linked with decide which checks of budgets and flows it has.
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "core/manifest.h"

namespace {

namespace nb = nanobind;

// The check needs aligned 64-bit words, and reads no more than the given number of bytes.
std::vector<std::uint64_t> words_of(const nb::bytes &manifest)
{
    std::vector<std::uint64_t> words(manifest.size() / sizeof(std::uint64_t) + 1);
    std::memcpy(words.data(), manifest.data(), manifest.size());
    return words;
}

std::pair<std::uint32_t, std::uint32_t> verdict_on(const nb::bytes &manifest, std::uint64_t package_bytes)
{
    const std::vector<std::uint64_t> words = words_of(manifest);
    const manifest_verdict verdict = manifest_check(words.data(), manifest.size(), package_bytes);
    return {static_cast<std::uint32_t>(verdict.error), verdict.offset};
}

// Fields of an accepted manifest.
std::optional<std::uint64_t> owner_of(const nb::bytes &manifest, std::uint64_t pa, std::uint64_t bytes)
{
    const std::vector<std::uint64_t> words = words_of(manifest);
    const void *start = words.data();
    const void *owner = manifest_owner_of(static_cast<const manifest_header *>(start), pa, bytes);
    if (owner == nullptr) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(static_cast<const char *>(owner) - static_cast<const char *>(start));
}

} // namespace

NB_MODULE(BULKHEAD_MODULE, module) // NOLINT(performance-unnecessary-value-param): the macro declares it
{
    module.doc() = "core/'s check of a manifest.";
    module.def("verdict_on", &verdict_on, nb::arg("manifest"), nb::arg("package_bytes"));
    module.def("owner_of", &owner_of, nb::arg("manifest"), nb::arg("pa"), nb::arg("bytes"));
}
