// SPDX-License-Identifier: Apache-2.0
// See run.h.
#include "machine/hosted/run.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include <elf.h>

#include "machine/hosted/system.h"
#include "machine/program/text.h"
#include "machine/python/results.h"
#include "machine/settings_json.h"

namespace bulkhead::machine::hosted {
namespace {

using nlohmann::json;

// What a request cannot mean; becomes a refusal at the one way in.
struct bad_request {
    std::string reason;
};

std::vector<std::byte> contents_of(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw bad_request{path + ": cannot be read"};
    }
    const std::vector<char> text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

// The segments of the package: ours, but read as any file.
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
            auto made = image::read(path);
            if (const auto *bad = std::get_if<refusal>(&made)) {
                throw bad_request{bad->reason};
            }
            known = std::make_shared<const image>(std::get<image>(std::move(made)));
        }
        return known;
    }

private:
    std::map<std::string, std::shared_ptr<const image>> known_;
};

board_settings board_of(const json &from)
{
    board_settings board;
    board.gicd_pa = from.at("gicd_pa");
    board.gicr_pa = from.at("gicr_pa");
    board.uart_pa = from.at("uart_pa");
    board.uart_irq = from.at("uart_irq");
    board.maintenance_irq = from.at("maintenance_irq");
    board.hypervisor_timer_irq = from.at("hypervisor_timer_irq");
    board.virtual_timer_irq = from.at("virtual_timer_irq");
    board.physical_timer_irq = from.at("physical_timer_irq");
    board.timer_hz = from.at("timer_hz");
    board.mpidrs = from.at("mpidrs").get<std::vector<std::uint64_t>>();
    board.entry = picoseconds{from.at("entry_ps")};
    board.exit = picoseconds{from.at("exit_ps")};
    board.barrier = picoseconds{from.at("barrier_ps")};
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

json run(const json &request)
{
    auto wanted = settings_from_json(request.at("settings").dump());
    if (const auto *bad = std::get_if<refusal>(&wanted)) {
        throw bad_request{bad->reason};
    }
    const std::vector<std::byte> package = contents_of(request.at("package"));
    const std::vector<std::byte> owners = contents_of(request.at("owners"));
    images files;
    contents what;
    what.pieces = pieces_of(package);
    what.load_address = request.at("load_address");
    what.owners = {reinterpret_cast<const std::uint8_t *>(owners.data()), owners.size()};
    what.pool_bytes = request.at("pool_bytes");
    what.hypervisor = files.at(request.at("hypervisor"));
    for (const json &domain : request.at("domains")) {
        what.domains.push_back(
            {files.at(domain.at("program")), domain.at("memory_end"), domain.at("several_cores")});
    }
    auto made = system::make(std::get<settings>(wanted), board_of(request.at("board")), std::move(what));
    if (const auto *bad = std::get_if<refusal>(&made)) {
        throw bad_request{bad->reason};
    }
    system &whole = *std::get<std::unique_ptr<system>>(made);
    const end_of_run ending = whole.run(picoseconds{request.at("until_ps")});
    picoseconds at{};
    for (std::uint32_t n = 0; n < whole.core_count(); ++n) {
        at = std::max(at, whole.hardware().core_at(core_id{n}).clock());
    }
    json answer = results_of(whole.hardware(), at);
    answer["ending"] = name_of(ending);
    answer["trouble"] = whole.trouble();
    answer["console"] = whole.console();
    answer["started_ps"] = whole.started() ? json(whole.started()->value) : json(nullptr);
    show_frames(request, whole.memory());
    return answer;
}

} // namespace

result<json> run_request(const std::string &text)
{
    try {
        return run(json::parse(text));
    } catch (const bad_request &bad) {
        return refusal{bad.reason};
    } catch (const json::exception &error) {
        return refusal{std::string("the request is not understood: ") + error.what()};
    }
}

} // namespace bulkhead::machine::hosted
