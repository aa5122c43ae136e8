// SPDX-License-Identifier: Apache-2.0
// A device that masters memory: it moves the pieces of a traffic model line by line through its SMMU, its
// regulator and the interconnect to DRAM. It moves no contents. Lines are issued in order: while one waits
// for its translation, lines that were issued before it go on, and later ones wait. At most
// `outstanding_lines` reads are in flight; writes are posted, and limited by the interconnect's
// `writes_in_flight`.
#pragma once

#include <cstdint>
#include <optional>

#include "machine/devices/bus_traffic.h"
#include "machine/engine.h"
#include "machine/memory_system.h"
#include "machine/smmu/smmu.h"

namespace bulkhead::machine::devices {

struct bus_master_counts {
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
    std::uint64_t lines = 0;
    std::uint32_t most_in_flight = 0; // reads
    std::uint64_t faults = 0;         // pieces that were abandoned, because the SMMU refused them
};

class bus_master final : public memory_client {
public:
    struct settings {
        picoseconds line{};                   // minimum time between two lines on its bus
        std::uint32_t outstanding_lines = 16; // reads
        std::uint64_t rate_bytes_per_s = 0;   // of the device itself; 0: no limit
        bool coherent = false;
    };
    struct surroundings {
        engine &timeline;
        memory_system &memory;
        route way;
        owner_id owner;
        bus_traffic &traffic;
        smmu *translation = nullptr; // null: addresses are physical
        mpam_label label{};
    };

    bus_master(const settings &wanted, surroundings around);
    void start(picoseconds when);
    [[nodiscard]] const bus_master_counts &counts() const { return counts_; }

    // memory_client
    void arrived(ticket id, picoseconds when) override;
    void room(picoseconds when) override;
    std::optional<written_back> drop(phys_addr) override { return std::nullopt; } // it has no cache
    [[nodiscard]] bool holds(phys_addr) const override { return false; }

private:
    void go_on();
    void go_on_at(picoseconds when);
    [[nodiscard]] bool translate();
    [[nodiscard]] bool send(phys_addr address, std::uint32_t bytes);
    [[nodiscard]] picoseconds now() const { return around_.timeline.now(); }

    settings settings_;
    surroundings around_;
    std::uint64_t line_bytes_;
    bus_master_counts counts_;

    std::optional<traffic_piece> piece_;
    std::uint32_t done_ = 0;            // bytes of the piece that were issued
    std::optional<phys_addr> physical_; // of the next line
    bool translating_ = false;
    bool waits_for_room_ = false;
    bool admitted_ = false; // by the regulator, for from_
    picoseconds from_{};    // earliest time of the next line
    std::uint32_t in_flight_ = 0;
    bool going_on_ = false;
    picoseconds going_on_at_{};
};

} // namespace bulkhead::machine::devices
