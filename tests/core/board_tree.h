// SPDX-License-Identifier: Apache-2.0
// The device tree of an invented board, written by libfdt: what a boot loader would pass for the board of the
// sample manifest. Tests change the description and build the tree again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct BoardTree {
    struct Range {
        uint64_t address;
        uint64_t bytes;
    };
    struct Reserved {
        std::string name;
        Range range;
        std::vector<std::string> flags; // properties without a value
        std::string compatible;
        std::string status;
    };

    std::vector<std::vector<Range>> memory{{{0x40000000, 0x40000000}}}; // one list per node
    std::string memory_status{};
    std::vector<Range> reservations{}; // of the header
    std::vector<Reserved> reserved{};  // nodes
    std::vector<uint64_t> cpus{0, 1, 2, 3};
    uint32_t cpu_cells = 1;
    std::string cpu_status{};
    std::string psci_compatible = "arm,psci-1.0";
    std::string psci_method = "smc"; // none: no node

    std::vector<uint8_t> make() const;
};

// Exactly these bytes in a separate heap block, so that the address sanitizer detects a read one byte
// outside.
class ExactBytes {
public:
    explicit ExactBytes(std::span<const uint8_t> bytes);
    const uint8_t *data() const { return data_.get(); }
    uint32_t size() const { return size_; }
    uint64_t address() const { return reinterpret_cast<uintptr_t>(data_.get()); }

private:
    std::unique_ptr<uint8_t[]> data_;
    uint32_t size_;
};
