// SPDX-License-Identifier: Apache-2.0
// Executes a request and builds its answer; see the header.
#include "machine/armv7/runner/run.h"

#include <regex>

#include "machine/armv7/runner/board.h"
#include "machine/armv7/runner/processor.h"
#include "machine/python/results.h"
#include "machine/settings_json.h"

namespace bulkhead::machine::armv7 {
namespace {

using nlohmann::json;

void demand(std::string reason)
{
    if (!reason.empty()) {
        throw bad_request{std::move(reason)};
    }
}

std::vector<memory_range> memory_of(const json &request)
{
    std::vector<memory_range> ranges;
    for (const json &one : request.at("memory")) {
        ranges.push_back({phys_addr{one.at("at")}, byte_count{one.at("size_bytes")}});
    }
    return ranges;
}

device_settings device_of(const json &from)
{
    return {.type = from.at("type"),
            .at = from.at("at"),
            .interrupt = from.value("interrupt", std::uint32_t{0}),
            .clock_hz = from.value("clock_hz", std::uint64_t{0})};
}

std::optional<std::regex> pattern_of(const json &request)
{
    if (!request.contains("until_line")) {
        return {};
    }
    try {
        return std::regex(request.at("until_line").get<std::string>());
    } catch (const std::regex_error &error) {
        throw bad_request{std::string("until_line is no regular expression: ") + error.what()};
    }
}

class armv7_run {
public:
    armv7_run(const json &request, const listener &say)
        : say_(say), last_line_(pattern_of(request)),
          machine_(take(simulated_machine::make(take(settings_from_json(request.at("settings").dump()))))),
          ranges_(memory_of(request)), memory_(take(ram::make(ranges_))), bus_(memory_, ranges_),
          image_(take(elf_image::read(request.at("image"))))
    {
        demand(image_.load(bus_));
        processor_ = take(make_processor(request.at("profile"), request.at("core"),
                                         {*machine_, bus_, image_, [this] { machine_->timeline().stop(); },
                                          [this](std::uint32_t option) { marked(option); }}));
        for (const json &one : request.at("devices")) {
            demand(board_.add(
                device_of(one),
                {machine_->timeline(), bus_, [this](std::uint8_t byte) { sent(byte); },
                 [this](std::uint32_t number, bool high) { processor_->set_interrupt(number, high); }}));
        }
    }

    json run(std::uint64_t until_ps)
    {
        processor_->start();
        const std::string ending = run_pieces(until_ps);
        json answer = counts();
        answer["ending"] = ending;
        answer["trouble"] = processor_->trouble();
        return answer;
    }

private:
    [[nodiscard]] json counts() const
    {
        picoseconds at{};
        for (std::uint32_t n = 0; n < machine_->core_count(); ++n) {
            at = std::max(at, machine_->core_at(core_id{n}).clock());
        }
        json all = results_of(*machine_, at);
        all.update(processor_->counts());
        return all;
    }

    void marked(std::uint32_t option) { heard_ = say_({{"mark", option}, {"counts", counts()}}) && heard_; }

    std::string run_pieces(std::uint64_t until_ps)
    {
        for (std::uint64_t now = 0; now < until_ps;) {
            if (stop_asked() || !heard_) {
                return "stopped";
            }
            now += std::min(until_ps - now, piece_ps);
            const engine::ending ended = machine_->timeline().run(picoseconds{now});
            if (line_found_) {
                return "line";
            }
            if (const std::string by_itself = processor_->ending(); !by_itself.empty()) {
                return by_itself;
            }
            if (ended == engine::ending::idle) {
                return "idle";
            }
        }
        return "time";
    }

    void sent(std::uint8_t byte)
    {
        if (byte != '\n') {
            line_.push_back(static_cast<char>(byte));
            return;
        }
        if (!line_.empty() && line_.back() == '\r') {
            line_.pop_back();
        }
        heard_ = say_({{"console", line_}, {"simulated_ps", machine_->timeline().now().value}}) && heard_;
        if (last_line_ && std::regex_search(line_, *last_line_)) {
            line_found_ = true;
            processor_->stop();
            machine_->timeline().stop();
        }
        line_.clear();
    }

    const listener &say_;
    std::optional<std::regex> last_line_;
    std::unique_ptr<simulated_machine> machine_;
    std::vector<memory_range> ranges_;
    ram memory_;
    physical_bus bus_;
    elf_image image_;
    board board_;
    std::unique_ptr<processor> processor_;
    std::string line_;
    bool line_found_ = false;
    bool heard_ = true;
};

} // namespace

json run_request(const json &request, const listener &say)
{
    armv7_run whole(request, say);
    return whole.run(request.value("until_ps", ~std::uint64_t{0}));
}

} // namespace bulkhead::machine::armv7
