// SPDX-License-Identifier: Apache-2.0
// Shared by both files of the module: nanobind's conversions, and the check of arguments from Python.
#ifndef BULKHEAD_BINDINGS_MXU_CONVERT_H
#define BULKHEAD_BINDINGS_MXU_CONVERT_H

#include <cstdint>
#include <stdexcept>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace mxu_binding {

inline void require(bool holds, const char *what)
{
    if (!holds) {
        throw std::invalid_argument(std::string(what) + " is out of range");
    }
}

// Function `check_description`: the microkernel's own check.
void add_description(nanobind::module_ &module);

// Class `Memory`: the memory manager's records of allocations.
void add_memory(nanobind::module_ &module);

} // namespace mxu_binding

#endif
