// SPDX-License-Identifier: Apache-2.0
// Writes a result file so that nobody ever sees a part of it: into a neighbour file, then renamed. Used by
// both plugins; a process that is killed leaves the previous result or none.
#pragma once

#include <string>

namespace bulkhead::observe {

// False: it could not be written, and the reason is on standard error.
bool write_result(const std::string &path, const std::string &text);

} // namespace bulkhead::observe
