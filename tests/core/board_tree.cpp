// SPDX-License-Identifier: Apache-2.0
// The test board's tree, node by node, with nodes that mislead a careless reader; see the header.
#include "board_tree.h"

#include <libfdt.h>

#include <algorithm>
#include <stdexcept>

namespace {

class Writer {
public:
    Writer() : bytes_(16384) { check(fdt_create(blob(), static_cast<int>(bytes_.size()))); }
    void reserve(BoardTree::Range range)
    {
        check(fdt_add_reservemap_entry(blob(), range.address, range.bytes));
    }
    void end_of_reservations() { check(fdt_finish_reservemap(blob())); }
    void begin(const std::string &name) { check(fdt_begin_node(blob(), name.c_str())); }
    void end() { check(fdt_end_node(blob())); }
    void empty(const std::string &name) { check(fdt_property(blob(), name.c_str(), nullptr, 0)); }
    void text(const std::string &name, const std::string &value)
    {
        if (!value.empty())
            check(fdt_property(blob(), name.c_str(), value.data(), static_cast<int>(value.size() + 1)));
    }
    void cells(const std::string &name, std::vector<uint32_t> values)
    {
        for (uint32_t &value : values)
            value = cpu_to_fdt32(value);
        check(fdt_property(blob(), name.c_str(), values.data(), static_cast<int>(values.size() * 4)));
    }
    void ranges(const std::string &name, const std::vector<BoardTree::Range> &ranges)
    {
        std::vector<uint32_t> values;
        for (auto [address, bytes] : ranges)
            for (uint64_t number : {address, bytes}) {
                values.push_back(static_cast<uint32_t>(number >> 32));
                values.push_back(static_cast<uint32_t>(number));
            }
        cells(name, values);
    }
    std::vector<uint8_t> finish()
    {
        check(fdt_finish(blob()));
        bytes_.resize(fdt_totalsize(blob()));
        return bytes_;
    }

private:
    void *blob() { return bytes_.data(); }
    static void check(int error)
    {
        if (error < 0)
            throw std::runtime_error(fdt_strerror(error));
    }
    std::vector<uint8_t> bytes_;
};

void write_cpus(Writer &writer, const BoardTree &board)
{
    writer.begin("cpus");
    writer.cells("#address-cells", {board.cpu_cells});
    writer.cells("#size-cells", {0});
    writer.begin("cpu-map"); // not a core
    writer.end();
    for (uint64_t cpu : board.cpus) {
        writer.begin("cpu@" + std::to_string(cpu));
        writer.text("device_type", "cpu");
        if (board.cpu_cells == 2)
            writer.cells("reg", {static_cast<uint32_t>(cpu >> 32), static_cast<uint32_t>(cpu)});
        else
            writer.cells("reg", {static_cast<uint32_t>(cpu)});
        writer.text("status", board.cpu_status);
        writer.end();
    }
    writer.end();
}

void write_reserved(Writer &writer, const BoardTree &board)
{
    writer.begin("reserved-memory");
    writer.cells("#address-cells", {2});
    writer.cells("#size-cells", {2});
    writer.empty("ranges");
    for (const auto &region : board.reserved) {
        writer.begin(region.name);
        writer.ranges("reg", {region.range});
        writer.text("compatible", region.compatible);
        writer.text("status", region.status);
        for (const auto &flag : region.flags)
            writer.empty(flag);
        writer.end();
    }
    writer.end();
}

} // namespace

std::vector<uint8_t> BoardTree::make() const
{
    Writer writer;

    for (Range range : reservations)
        writer.reserve(range);
    writer.end_of_reservations();
    writer.begin("");
    writer.text("compatible", "bulkhead,made-up-board");
    writer.cells("#address-cells", {2});
    writer.cells("#size-cells", {2});
    write_reserved(writer, *this);
    for (const auto &ranges : memory) {
        writer.begin("memory@" + std::to_string(ranges.empty() ? 0 : ranges.front().address));
        writer.ranges("reg", ranges);
        writer.text("device_type", "memory");
        writer.text("status", memory_status);
        writer.end();
    }
    writer.begin("soc"); // with other cell counts, and nodes that resemble others
    writer.cells("#address-cells", {1});
    writer.cells("#size-cells", {1});
    writer.begin("memory@0");
    writer.text("device_type", "memory");
    writer.cells("reg", {0, 0x40000000});
    writer.end();
    writer.begin("cpus");
    writer.begin("cpu@7");
    writer.cells("reg", {0, 7, 0});
    writer.end();
    writer.end();
    writer.end();
    write_cpus(writer, *this);
    if (!psci_method.empty()) {
        writer.begin("psci");
        writer.text("compatible", psci_compatible);
        writer.text("method", psci_method);
        writer.end();
    }
    writer.begin("chosen");
    writer.end();
    writer.end();
    return writer.finish();
}

ExactBytes::ExactBytes(std::span<const uint8_t> bytes)
    : data_(std::make_unique<uint8_t[]>(bytes.size())), size_(static_cast<uint32_t>(bytes.size()))
{
    std::copy(bytes.begin(), bytes.end(), data_.get());
}
