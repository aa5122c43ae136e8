// SPDX-License-Identifier: Apache-2.0
// Drives the channel through its registers, as software would, but without taking time; see the header.
#include "machine/python/dma_load.h"

#include <algorithm>
#include <stdexcept>

namespace bulkhead::machine {

namespace {

using nlohmann::json;
namespace reg = devices::zdma_register;

constexpr std::uint32_t most_chunk_bytes = 0x3FFFFFFF;

// The engine has its own port of the interconnect.
route route_to_memory(const settings &made_from, const std::string &master)
{
    const auto port = std::ranges::find(made_from.masters, master, &master_settings::name);
    if (port == made_from.masters.end()) {
        throw std::runtime_error("there is no master '" + master + "'");
    }
    return {{}, static_cast<std::size_t>(port - made_from.masters.begin())};
}

void demand(bool holds, const char *why)
{
    if (!holds) {
        throw std::runtime_error(why);
    }
}

} // namespace

dma_load::settings dma_load::settings_of(const json &from)
{
    settings wanted;
    wanted.master = from.at("master");
    from.at("from").get_to(wanted.from);
    from.at("to").get_to(wanted.to);
    from.at("chunk_bytes").get_to(wanted.chunk_bytes);
    from.at("chunks").get_to(wanted.chunks);
    wanted.gap = picoseconds{from.at("gap_ps")};
    wanted.start_at = picoseconds{from.at("start_at_ps")};
    wanted.owner = owner_id{from.at("owner").get<std::uint8_t>()};
    wanted.channel.coherent = from.at("coherent");
    wanted.channel.start = picoseconds{from.at("start_ps")};
    wanted.channel.finish = picoseconds{from.at("finish_ps")};
    wanted.channel.line = picoseconds{from.at("line_ps")};
    demand(!wanted.from.empty() && wanted.from.size() == wanted.to.size(),
           "needs as many places to copy to as from, one at least");
    demand(wanted.chunk_bytes > 0 && wanted.chunk_bytes <= most_chunk_bytes, "chunks are of 1 byte to 1 GiB");
    return wanted;
}

result<std::unique_ptr<dma_load>> dma_load::make(simulated_machine &machine, const std::string &text,
                                                 std::function<void()> done)
{
    try {
        settings wanted = settings_of(json::parse(text));
        const route way = route_to_memory(machine.made_from(), wanted.master);
        demand(wanted.owner.value < machine.made_from().owners, "there is no such owner");
        return std::unique_ptr<dma_load>(new dma_load(machine, std::move(wanted), way, std::move(done)));
    } catch (const std::exception &error) {
        return refusal{std::string("DMA engine: ") + error.what()};
    }
}

dma_load::dma_load(simulated_machine &machine, settings wanted, const route &way, std::function<void()> done)
    : timeline_(machine.timeline()), wanted_(std::move(wanted)), done_(std::move(done)),
      channel_(wanted_.channel,
               {.timeline = timeline_,
                .memory = machine.memory(),
                .way = way,
                .owner = wanted_.owner,
                .bytes = [this](phys_addr, byte_count count,
                                access_kind) { return std::span(bytes_).first(count.value); },
                .line =
                    [this](bool high) {
                        if (high) {
                            interrupted();
                        }
                    }})
{
    channel_.write(reg::ier, devices::zdma_channel::done);
    timeline_.at(wanted_.start_at, [this] { start_chunk(); });
}

void dma_load::start_chunk()
{
    const std::size_t place = copied_ % wanted_.from.size();
    const auto side = [this](std::uint32_t words, std::uint64_t address) {
        channel_.write(words, static_cast<std::uint32_t>(address));
        channel_.write(words + 4, static_cast<std::uint32_t>(address >> 32U));
        channel_.write(words + 8, wanted_.chunk_bytes);
    };
    side(reg::source_words, wanted_.from[place]);
    side(reg::destination_words, wanted_.to[place]);
    started_ = timeline_.now();
    first_ = copied_ == 0 ? started_ : first_;
    channel_.write(reg::ctrl2, 1);
}

void dma_load::interrupted()
{
    last_ = timeline_.now();
    const picoseconds took{last_.value - started_.value};
    busy_ = busy_ + took;
    longest_ = std::max(longest_, took);
    ++copied_;
    channel_.write(reg::total_bytes, 0); // otherwise it would overflow in a long run
    channel_.write(reg::isr, devices::zdma_channel::done);
    if (copied_ == wanted_.chunks) {
        done_();
        return;
    }
    timeline_.at(last_ + wanted_.gap, [this] { start_chunk(); });
}

json dma_load::report() const
{
    return {{"master", wanted_.master},
            {"chunks", copied_},
            {"bytes", copied_ * wanted_.chunk_bytes},
            {"busy_ps", busy_.value},
            {"longest_ps", longest_.value},
            {"first_ps", first_.value},
            {"last_ps", last_.value}};
}

} // namespace bulkhead::machine
