// SPDX-License-Identifier: Apache-2.0
// Writing of result files; see the header.
#include "observe/result_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <unistd.h>

namespace bulkhead::observe {

bool write_result(const std::string &path, const std::string &text)
{
    const std::string partial = path + ".partial." + std::to_string(getpid());
    bool written = false;
    {
        std::ofstream file(partial, std::ios::binary | std::ios::trunc);
        file << text;
        file.close();
        written = file.good();
    }
    if (written && std::rename(partial.c_str(), path.c_str()) == 0) {
        return true;
    }
    std::fprintf(stderr, "bulkhead: can not write %s: %s\n", path.c_str(), std::strerror(errno));
    std::remove(partial.c_str());
    return false;
}

} // namespace bulkhead::observe
