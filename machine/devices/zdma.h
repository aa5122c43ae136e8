// SPDX-License-Identifier: Apache-2.0
// One channel of a ZynqMP-style general purpose DMA (UG1085, chapter 19, and UG1087, module ZDMA): registers
// as software sees them, and transfers described by registers or by linked lists in memory, line by line
// through interconnect and DRAM. It also moves the bytes. Not modelled: the FCI, rate control, pause and
// resume, write-only and read-only modes (a channel that is started in one of these reports an error).
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "machine/engine.h"
#include "machine/memory_system.h"

namespace bulkhead::machine::devices {

// Offsets in a channel's page.
namespace zdma_register {
inline constexpr std::uint32_t isr = 0x100; // write one to clear
inline constexpr std::uint32_t imr = 0x104; // one: masked
inline constexpr std::uint32_t ier = 0x108;
inline constexpr std::uint32_t ids = 0x10C;
inline constexpr std::uint32_t ctrl0 = 0x110;
inline constexpr std::uint32_t ctrl1 = 0x114;
inline constexpr std::uint32_t status = 0x11C;
inline constexpr std::uint32_t data_attributes = 0x120;
inline constexpr std::uint32_t descriptor_attributes = 0x124;
inline constexpr std::uint32_t source_words = 0x128; // four: address low, high, size, control
inline constexpr std::uint32_t destination_words = 0x138;
inline constexpr std::uint32_t source_start = 0x158; // two: low, high
inline constexpr std::uint32_t destination_start = 0x160;
inline constexpr std::uint32_t total_bytes = 0x188;
inline constexpr std::uint32_t source_interrupts = 0x190; // cleared by reading
inline constexpr std::uint32_t destination_interrupts = 0x194;
inline constexpr std::uint32_t ctrl2 = 0x200;
} // namespace zdma_register

class zdma_channel final : public memory_client {
public:
    struct settings {
        picoseconds start;             // from enabling to the first access
        picoseconds finish;            // from the last write to the interrupt
        picoseconds line;              // minimum time between two lines on its bus, in each direction
        std::uint32_t burst_lines = 2; // lines of a burst; the number in flight is limited in bursts
        bool coherent = true;          // the interconnect snoops the clusters of cores
    };
    struct surroundings {
        engine &timeline;
        memory_system &memory;
        route way;
        owner_id owner;     // owner that its traffic is counted for
        mpam_label label{}; // label of all its requests, as for a master without an SMMU
        // The bytes of a physical range; empty: there is no memory, or the channel may not access it.
        std::function<std::span<std::byte>(phys_addr first, byte_count bytes, access_kind kind)> bytes;
        std::function<void(bool high)> line;
    };

    // Bits of ISR.
    static constexpr std::uint32_t done = 1U << 10U;
    static constexpr std::uint32_t write_error = 1U << 9U;
    static constexpr std::uint32_t read_error = 1U << 8U;
    static constexpr std::uint32_t destination_descriptor_error = 1U << 7U;
    static constexpr std::uint32_t source_descriptor_error = 1U << 6U;
    static constexpr std::uint32_t byte_count_overflow = 1U << 3U;
    static constexpr std::uint32_t destination_descriptor_done = 1U << 2U;
    static constexpr std::uint32_t source_descriptor_done = 1U << 1U;
    static constexpr std::uint32_t invalid_access = 1U << 0U;

    zdma_channel(const settings &wanted, surroundings around);

    [[nodiscard]] std::uint32_t read(std::uint32_t offset);
    void write(std::uint32_t offset, std::uint32_t value);

    [[nodiscard]] bool busy() const { return busy_; }
    [[nodiscard]] bool line() const { return line_; }

    // memory_client
    void arrived(ticket id, picoseconds when) override;
    void room(picoseconds when) override;
    std::optional<written_back> drop(phys_addr line) override;
    [[nodiscard]] bool holds(phys_addr) const override { return false; }

private:
    static constexpr std::size_t most_line_bytes = 256;

    // Position of one side, source or destination, in its descriptors.
    struct side {
        std::uint64_t address = 0;
        std::uint64_t left = 0;
        std::uint32_t control = 0;
        std::uint64_t next = 0; // next descriptor in memory; used if `list`
        bool list = false;
        std::uint32_t fetch_error = 0; // ISR bits
        std::uint32_t data_error = 0;
    };
    // A line, or a part of one, in the channel's buffer.
    struct piece {
        std::uint64_t address = 0;
        ticket id = 0;
        bool here = false;
        std::uint32_t bytes = 0;
        std::uint32_t written = 0;
        std::array<std::byte, most_line_bytes> data{};
    };

    void start();
    bool next_descriptor(side &one);
    void go_on();
    void read_lines();
    void write_lines();
    bool source_ended();
    void finish();
    void fail(std::uint32_t bits);
    void go_on_at(picoseconds when);
    void piece_here(ticket id);
    void raise(std::uint32_t bits);
    [[nodiscard]] std::uint32_t lines_in_flight() const;
    [[nodiscard]] line_request request(access_kind kind, std::uint64_t address) const;
    [[nodiscard]] std::uint64_t line_of(std::uint64_t address) const;
    [[nodiscard]] std::uint32_t up_to_line_end(std::uint64_t address, std::uint64_t bytes) const;
    [[nodiscard]] picoseconds now() const { return around_.timeline.now(); }

    settings settings_;
    surroundings around_;
    std::uint64_t line_bytes_;
    std::array<std::uint32_t, 0x204 / 4> registers_{};

    bool busy_ = false;
    bool failed_ = false;
    std::uint64_t run_ = 0; // number of the transfer: events of earlier transfers are ignored
    side source_;
    side destination_;
    std::deque<piece> pieces_; // in order of addresses read
    picoseconds read_from_{};  // the bus is occupied until then
    picoseconds write_from_{};
    bool read_admitted_ = false; // the regulator has admitted the next line, for read_from_
    bool write_admitted_ = false;
    picoseconds last_write_{};
    bool waits_for_room_ = false;
    bool ending_ = false;
    bool going_on_ = false;
    std::uint64_t reads_ = 0;
    picoseconds going_on_at_{};
    bool line_ = false;
};

} // namespace bulkhead::machine::devices
