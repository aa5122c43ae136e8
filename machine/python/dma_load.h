// SPDX-License-Identifier: Apache-2.0
// A DMA engine as a load generator: one channel that copies chunk after chunk between given addresses while
// programs run on the cores. Made by the bindings from a JSON object; it causes the traffic but copies no
// contents.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "machine/devices/zdma.h"
#include "machine/machine.h"

namespace bulkhead::machine {

class dma_load {
public:
    // The object: master (name of its port), from[] and to[] (start addresses of chunks, as many of one as of
    // the other; used in turn), chunk_bytes, chunks (0: endless), gap_ps (from a chunk's interrupt to the
    // next one's start), start_at_ps, owner, and for the channel coherent, start_ps, finish_ps, line_ps.
    // Refuses missing keys and impossible values. `done` is called when all chunks are copied.
    static result<std::unique_ptr<dma_load>> make(simulated_machine &machine, const std::string &text,
                                                  std::function<void()> done);

    [[nodiscard]] bool endless() const { return wanted_.chunks == 0; }

    // master, chunks, bytes, busy_ps (from start to interrupt, sum of all chunks), longest_ps, first_ps and
    // last_ps (start of the first chunk and interrupt of the last one).
    [[nodiscard]] nlohmann::json report() const;

private:
    struct settings {
        std::string master;
        std::vector<std::uint64_t> from;
        std::vector<std::uint64_t> to;
        std::uint32_t chunk_bytes = 0;
        std::uint64_t chunks = 0;
        picoseconds gap{};
        picoseconds start_at{};
        owner_id owner{};
        devices::zdma_channel::settings channel{};
    };

    dma_load(simulated_machine &machine, settings wanted, const route &way, std::function<void()> done);
    static settings settings_of(const nlohmann::json &from);
    void start_chunk();
    void interrupted();

    engine &timeline_;
    settings wanted_;
    std::function<void()> done_;
    std::array<std::byte, 256> bytes_{}; // contents of all lines
    devices::zdma_channel channel_;
    picoseconds started_{};
    std::uint64_t copied_ = 0; // number of chunks
    picoseconds busy_{};
    picoseconds longest_{};
    picoseconds first_{};
    picoseconds last_{};
};

} // namespace bulkhead::machine
