// SPDX-License-Identifier: Apache-2.0
//
// Device trees for the tests of the reader, written by libfdt. Each blob is a separate heap block of its
// exact size, so that the address sanitizer detects a read one byte outside.
#pragma once

#include <libfdt.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace tree {

// Exactly `bytes`, with nothing readable around it.
class Blob {
public:
    explicit Blob(std::span<const uint8_t> bytes)
        : data_(std::make_unique<uint8_t[]>(bytes.size())), size_(bytes.size())
    {
        std::copy(bytes.begin(), bytes.end(), data_.get());
    }
    const uint8_t *data() const { return data_.get(); }
    size_t size() const { return size_; }

private:
    std::unique_ptr<uint8_t[]> data_;
    size_t size_;
};

inline void check(int error)
{
    if (error < 0)
        throw std::runtime_error(fdt_strerror(error));
}

// A guest's device tree as the builder makes it, with nodes that mislead a careless reader: a bus with other
// cell counts, a node that resembles another one, a property after a nested node of the same name.
inline std::vector<uint8_t> guest()
{
    std::vector<uint8_t> bytes(8192);
    void *fdt = bytes.data();
    auto begin = [&](const char *name) { check(fdt_begin_node(fdt, name)); };
    auto end = [&] { check(fdt_end_node(fdt)); };
    auto cells = [&](const char *name, std::vector<uint32_t> values) {
        for (uint32_t &value : values)
            value = cpu_to_fdt32(value);
        check(fdt_property(fdt, name, values.data(), static_cast<int>(values.size() * sizeof(uint32_t))));
    };
    auto text = [&](const char *name, const std::string &value) {
        check(fdt_property(fdt, name, value.c_str(), static_cast<int>(value.size() + 1)));
    };

    check(fdt_create(fdt, static_cast<int>(bytes.size())));
    check(fdt_add_reservemap_entry(fdt, 0x48000000, 0x1000));
    check(fdt_finish_reservemap(fdt));
    begin("");
    cells("#address-cells", {2});
    cells("#size-cells", {2});
    begin("soc");
    cells("#address-cells", {1});
    cells("#size-cells", {1});
    begin("bulkhead");
    cells("period_us", {0, 1});
    end();
    begin("serial@9000000");
    check(fdt_property(fdt, "compatible", "arm,pl011\0arm,primecell", 24));
    cells("reg", {0x09000000, 0x1000});
    end();
    end();
    begin("cpus");
    cells("#address-cells", {1});
    cells("#size-cells", {0});
    for (uint32_t cpu : {0u, 1u, 0x100u}) {
        begin(("cpu@" + std::to_string(cpu)).c_str());
        text("device_type", "cpu");
        cells("reg", {cpu});
        end();
    }
    end();
    begin("memory@40000000");
    text("device_type", "memory");
    cells("reg", {0, 0x40000000, 0, 0x1000000, 0x8, 0x80000000, 0x1, 0});
    end();
    begin("bulkhead-other");
    cells("period_us", {0, 2});
    end();
    begin("bulkhead");
    cells("period_us", {0, 500});
    cells("address", {0x20, 0x10});
    cells("short", {7});
    check(fdt_property(fdt, "empty", nullptr, 0));
    end();
    end();
    check(fdt_finish(fdt));
    bytes.resize(fdt_totalsize(fdt));
    return bytes;
}

} // namespace tree
