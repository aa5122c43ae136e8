// SPDX-License-Identifier: Apache-2.0
// The kernel's own check of a system's description (microkernel/kernel/description.c), for tools that write
// one.
#include <cstring>
#include <optional>
#include <string>

#include "bindings/mxu/convert.h"

extern "C" {
#include "microkernel/kernel/boot.h"
}

namespace {

namespace nb = nanobind;
using mxu_binding::require;

// The error in the description, or nothing.
std::optional<std::string> check(const nb::bytes &content)
{
    boot_system system{};

    require(content.size() == sizeof system, "the size of a description");
    std::memcpy(&system, content.data(), sizeof system);
    const char *wrong = description_check(&system);
    return wrong == nullptr ? std::nullopt : std::optional<std::string>(wrong);
}

} // namespace

namespace mxu_binding {

void add_description(nanobind::module_ &module)
{
    module.def("check_description", &check, nb::arg("content"));
}

} // namespace mxu_binding
