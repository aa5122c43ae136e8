// SPDX-License-Identifier: Apache-2.0
// Decodes the words that it reads, hexadecimal, one a line, of 4 digits or 8 (T32: the first halfword first),
// and prints the name of each, or `-` if it is undefined or unpredictable. For comparison with a disassembler
// (test_against_objdump.py).
//
//     armv7_decode_words t32|a32|m < WORDS      m: T32 of v7-M
#include <iostream>
#include <string>

#include "machine/armv7/decode.h"

int main(int argc, char **argv)
{
    using namespace bulkhead::machine::armv7;
    if (argc != 2) {
        std::cerr << "usage: armv7_decode_words t32|a32|m\n";
        return 2;
    }
    const std::string set = argv[1];
    const features has{.m_profile = set == "m", .divide_thumb = true, .divide_arm = true};
    std::string line;
    while (std::getline(std::cin, line)) {
        const auto word = static_cast<std::uint32_t>(std::stoul(line, nullptr, 16));
        const auto bytes = static_cast<std::uint8_t>(line.size() / 2);
        const operation what = decode(word, bytes, {0x1000, 0, set != "a32"}, has);
        std::cout << (is_undefined(what) ? "-" : what.name) << '\n';
    }
    return 0;
}
