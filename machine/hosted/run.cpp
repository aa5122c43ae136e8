// SPDX-License-Identifier: Apache-2.0
// Executes a request and builds its answer; see the header.
#include "machine/hosted/run.h"

#include <cstring>
#include <fstream>
#include <map>

#include <elf.h>

#include "machine/hosted/system.h"
#include "machine/program/text.h"
#include "machine/python/results.h"
#include "machine/settings_json.h"

namespace bulkhead::machine::hosted {
namespace {

using nlohmann::json;

// The segments of the package. We have built it, but it is checked like any file.
std::vector<contents::piece> pieces_of(std::span<const std::byte> file)
{
    Elf64_Ehdr header{};
    if (file.size() < sizeof header) {
        throw bad_request{"the package is no ELF file"};
    }
    std::memcpy(&header, file.data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr) ||
        header.e_phoff > file.size() ||
        (file.size() - header.e_phoff) / sizeof(Elf64_Phdr) < header.e_phnum) {
        throw bad_request{"the package is no ELF file, or a broken one"};
    }
    std::vector<contents::piece> pieces;
    for (std::size_t n = 0; n < header.e_phnum; ++n) {
        Elf64_Phdr segment{};
        std::memcpy(&segment, file.data() + header.e_phoff + n * sizeof segment, sizeof segment);
        if (segment.p_offset > file.size() || segment.p_filesz > file.size() - segment.p_offset) {
            throw bad_request{"the package is truncated"};
        }
        if (segment.p_type == PT_LOAD && segment.p_filesz != 0) {
            pieces.push_back({segment.p_paddr, file.subspan(segment.p_offset, segment.p_filesz)});
        }
    }
    return pieces;
}

class images {
public:
    std::shared_ptr<const image> at(const std::string &path)
    {
        auto &known = known_[path];
        if (!known) {
            known = std::make_shared<const image>(take(image::read(path)));
        }
        return known;
    }

private:
    std::map<std::string, std::shared_ptr<const image>> known_;
};

template <class Kind>
Kind kind_of(const json &from, std::string_view key,
             std::initializer_list<std::pair<const char *, Kind>> known)
{
    const std::string name = from.at(key);
    for (const auto &[text, kind] : known) {
        if (name == text) {
            return kind;
        }
    }
    throw bad_request{sentence("the machine has no ", key, " of the kind ", name)};
}

dma_settings dma_of(const json &from)
{
    dma_settings dma;
    dma.at = from.at("at");
    dma.channel_bytes = from.at("channel_bytes");
    dma.interrupts = from.at("interrupts").get<std::vector<std::uint32_t>>();
    dma.master = from.at("master");
    dma.timing.start = picoseconds{from.at("start_ps")};
    dma.timing.finish = picoseconds{from.at("finish_ps")};
    dma.timing.line = picoseconds{from.at("line_ps")};
    dma.timing.coherent = from.at("coherent");
    return dma;
}

board_settings board_of(const json &from)
{
    board_settings board;
    board.gic = kind_of<gic_kind>(from, "gic", {{"gicv2", gic_kind::v2}, {"gicv3", gic_kind::v3}});
    board.gicd_pa = from.at("gicd_pa");
    if (board.gic == gic_kind::v3) {
        board.gicr_pa = from.at("gicr_pa");
    } else {
        board.gicc_pa = from.at("gicc_pa");
        board.gich_pa = from.at("gich_pa");
        board.gicv_pa = from.at("gicv_pa");
    }
    board.uart =
        kind_of<uart_kind>(from, "uart", {{"pl011", uart_kind::pl011}, {"cadence", uart_kind::cadence}});
    board.uart_pa = from.at("uart_pa");
    board.uart_irq = from.at("uart_irq");
    board.maintenance_irq = from.at("maintenance_irq");
    board.hypervisor_timer_irq = from.at("hypervisor_timer_irq");
    board.virtual_timer_irq = from.at("virtual_timer_irq");
    board.physical_timer_irq = from.at("physical_timer_irq");
    board.timer_hz = from.at("timer_hz");
    board.event_counters = from.at("event_counters");
    board.overflow_irqs = from.at("overflow_irqs").get<std::vector<std::uint32_t>>();
    board.mpidrs = from.at("mpidrs").get<std::vector<std::uint64_t>>();
    board.s2fwb = from.at("s2fwb");
    board.dram_profile_pa = from.at("dram_profile_pa");
    for (const json &one : from.at("dma")) {
        board.dma.push_back(dma_of(one));
    }
    for (const json &one : from.at("qos")) {
        board.qos.push_back({.at = one.at("at"), .master = one.at("master")});
    }
    board.entry = picoseconds{from.at("entry_ps")};
    board.exit = picoseconds{from.at("exit_ps")};
    board.barrier = picoseconds{from.at("barrier_ps")};
    board.broadcast_stall = picoseconds{from.at("broadcast_stall_ps")};
    board.broadcast_wait = picoseconds{from.at("broadcast_wait_ps")};
    return board;
}

const char *name_of(end_of_run ending)
{
    switch (ending) {
    case end_of_run::off:
        return "off";
    case end_of_run::time:
        return "time";
    case end_of_run::idle:
        return "idle";
    case end_of_run::confused:
        return "confused";
    }
    return "";
}

void show_frames(const json &request, const ram &memory)
{
    if (!request.contains("frames")) {
        return;
    }
    std::ofstream file(request.at("frames_file").get<std::string>(), std::ios::binary);
    for (const std::uint64_t pa : request.at("frames")) {
        const std::span<const std::byte> bytes = memory.bytes(phys_addr{pa}, {page_bytes});
        if (bytes.empty()) {
            throw bad_request{sentence("frame ", hex{pa}, " is not memory of the machine")};
        }
        file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
}

// Converts bytes to characters with the same numbers, which JSON can carry.
std::string utf8_of(std::string_view bytes)
{
    std::string text;
    for (const char one : bytes) {
        const auto code = static_cast<unsigned char>(one);
        if (code < 0x80) {
            text.push_back(one);
        } else {
            text.push_back(static_cast<char>(0xC0U | code >> 6U));
            text.push_back(static_cast<char>(0x80U | (code & 0x3FU)));
        }
    }
    return text;
}

// Converts such characters back to bytes.
std::string bytes_of(std::string_view utf8)
{
    std::string bytes;
    for (std::size_t i = 0; i < utf8.size(); ++i) {
        const auto code = static_cast<unsigned char>(utf8[i]);
        const bool two = (code & 0xFEU) == 0xC2U && i + 1 < utf8.size();
        if (code >= 0x80 && !two) {
            throw bad_request{"what is typed is no text of bytes"};
        }
        bytes.push_back(
            two ? static_cast<char>((code & 3U) << 6U | (static_cast<unsigned char>(utf8[++i]) & 0x3FU))
                : utf8[i]);
    }
    return bytes;
}

json counts_of(system &whole)
{
    picoseconds at{};
    for (std::uint32_t n = 0; n < whole.core_count(); ++n) {
        at = std::max(at, whole.hardware().core_at(core_id{n}).clock());
    }
    return results_of(whole.hardware(), at);
}

// The difference of two counts. All integers are counts that only grow, except for the digest.
json difference(const json &now, const json &then, std::string_view name = {})
{
    json made = now;
    if (now.is_object()) {
        for (const auto &[key, value] : now.items()) {
            made[key] = difference(value, then.at(key), key);
        }
    } else if (now.is_array()) {
        for (std::size_t i = 0; i < now.size(); ++i) {
            made[i] = difference(now[i], then[i], name);
        }
    } else if (now.is_number_integer() && name != "digest") {
        made = now.get<std::uint64_t>() - then.get<std::uint64_t>();
    }
    return made;
}

json since(const json &start, json counts)
{
    if (!start.is_null()) {
        counts = difference(counts, start);
        json &dram = counts["dram"];
        const auto cycles = dram.at("cycles").get<double>();
        dram["utilization"] = cycles == 0 ? 0 : dram.at("busy_cycles").get<double>() / cycles;
    }
    return counts;
}

// A system, and the bytes that it refers to.
struct prepared {
    std::vector<std::byte> package;
    std::vector<std::byte> owners;
    std::unique_ptr<system> whole;
};

prepared prepare(const json &request)
{
    const settings wanted = take(settings_from_json(request.at("settings").dump()));
    prepared made{take(file_content(request.at("package"))), take(file_content(request.at("owners"))),
                  nullptr};
    images files;
    contents what;
    what.pieces = pieces_of(made.package);
    what.load_address = request.at("load_address");
    what.owners = {reinterpret_cast<const std::uint8_t *>(made.owners.data()), made.owners.size()};
    what.pool_bytes = request.at("pool_bytes");
    what.hypervisor = files.at(request.at("hypervisor"));
    for (const json &domain : request.at("domains")) {
        what.domains.push_back(
            {files.at(domain.at("program")), domain.at("memory_end"), domain.at("others_at")});
    }
    made.whole = take(system::make(wanted, board_of(request.at("board")), std::move(what)));
    for (const json &typed : request.value("typed", json::array())) {
        made.whole->type(picoseconds{typed.at("at_ps")}, bytes_of(typed.at("text").get<std::string>()));
    }
    return made;
}

// Runs in pieces of simulated time, until the machine ends or the caller stops it.
const char *run_pieces(system &whole, std::uint64_t until_ps, const listener &say)
{
    std::size_t shown = 0;
    for (std::uint64_t now = 0; now < until_ps;) {
        if (stop_asked()) {
            return "stopped";
        }
        now += std::min(until_ps - now, piece_ps);
        const end_of_run ending = whole.run(picoseconds{now});
        const std::string &console = whole.console();
        const bool heard =
            say({{"console", utf8_of(std::string_view(console).substr(shown))}, {"simulated_ps", now}});
        shown = console.size();
        if (ending != end_of_run::time) {
            return name_of(ending);
        }
        if (!heard) {
            return "stopped";
        }
    }
    return name_of(end_of_run::time);
}

} // namespace

json run_request(const json &request, const listener &say)
{
    const prepared parts = prepare(request);
    system &whole = *parts.whole;
    json at_start;
    whole.when_started([&] { at_start = counts_of(whole); });
    const char *const ending = run_pieces(whole, request.value("until_ps", ~std::uint64_t{0}), say);
    json answer = since(at_start, counts_of(whole));
    answer["ending"] = ending;
    answer["trouble"] = whole.trouble();
    answer["started_ps"] = whole.started() ? json(whole.started()->value) : json(nullptr);
    show_frames(request, whole.memory());
    return answer;
}

} // namespace bulkhead::machine::hosted
