// SPDX-License-Identifier: Apache-2.0
// What a bus master moves, as a sequence of pieces without timing of the memory. A disk-like engine serves
// `queue_depth` commands at once, page by page in turn; each command is a sequential range. A network-like
// engine gets packets at a line rate; for each it reads a descriptor, writes the packet into the next buffer
// of its ring, and writes the descriptor back. The order of commands and of buffers depends on the seed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "machine/random.h"
#include "machine/time.h"
#include "machine/types.h"

namespace bulkhead::machine::devices {

struct traffic_piece {
    std::uint64_t address; // as the device sees it
    std::uint32_t bytes;   // lies within one page
    access_kind kind;
    picoseconds not_before{};
};

class bus_traffic {
public:
    static constexpr std::uint64_t page_bytes = 4096;

    bus_traffic() = default;
    bus_traffic(const bus_traffic &) = delete;
    bus_traffic &operator=(const bus_traffic &) = delete;
    virtual ~bus_traffic() = default;
    // The next piece; `now`: time at which the engine can begin it.
    virtual traffic_piece next(picoseconds now) = 0;
    // Packets that were lost because the ring had no free buffer.
    [[nodiscard]] virtual std::uint64_t dropped() const { return 0; }
};

class disk_traffic final : public bus_traffic {
public:
    struct settings {
        std::uint64_t base = 0; // whole commands from here on
        std::uint64_t memory_bytes = 0;
        std::uint64_t command_bytes = 128 * 1024; // whole pages
        std::uint32_t queue_depth = 4;
        access_kind kind = access_kind::write; // of memory: a disk that is read writes memory
        std::uint64_t seed = 1;
    };
    explicit disk_traffic(const settings &wanted);
    traffic_piece next(picoseconds now) override;

private:
    struct command {
        std::uint64_t at;
        std::uint64_t left;
    };
    command new_command();

    settings settings_;
    random_source random_;
    std::vector<command> queue_;
    std::size_t turn_ = 0;
};

class network_traffic final : public bus_traffic {
public:
    struct settings {
        std::uint64_t ring = 0;    // descriptors of 16 bytes, one for each buffer
        std::uint64_t buffers = 0; // first byte of the buffers, of one page each
        std::uint32_t buffer_count = 256;
        std::uint32_t packet_bytes = 1514;
        std::uint64_t line_rate_bytes_per_s = 0;
        std::uint64_t seed = 1;
    };
    explicit network_traffic(const settings &wanted);
    traffic_piece next(picoseconds now) override;
    [[nodiscard]] std::uint64_t dropped() const override { return dropped_; }

private:
    static constexpr std::uint32_t descriptor_bytes = 16;
    enum class step : std::uint8_t { fetch, payload, write_back };

    settings settings_;
    std::vector<std::uint32_t> order_; // buffer of each descriptor
    std::uint64_t arrivals_ = 0;       // packets that have come, lost ones too
    std::size_t at_ = 0;               // descriptor of the next packet
    std::uint64_t dropped_ = 0;
    step step_ = step::fetch;
};

} // namespace bulkhead::machine::devices
