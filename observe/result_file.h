// SPDX-License-Identifier: Apache-2.0
// Writes a result file so that no reader sees an incomplete one: to a temporary file, which is then renamed.
// Used by both plugins. If the process is killed, the previous result stays, or none.
#pragma once

#include <string>

namespace bulkhead::observe {

// False: it could not be written, and the reason is on standard error.
bool write_result(const std::string &path, const std::string &text);

} // namespace bulkhead::observe
