// SPDX-License-Identifier: Apache-2.0
// Message interrupts of fuzzed guests; see the header.
#include "messages.h"
#include "gic.h"

#include <algorithm>
#include <cstring>

namespace bulkhead_fuzz {

using bulkhead_test::ItsModel;
using bulkhead_test::PciModel;

namespace {

constexpr uint32_t first_lpi = 8192;
constexpr uint64_t valid = 1ull << 63;
constexpr uint64_t its_ctlr = sample_its_pa, its_cbaser = sample_its_pa + 0x80,
                   its_cwriter = sample_its_pa + 0x88, its_baser = sample_its_pa + 0x100;
constexpr uint64_t gicr_ipa = 0x080A0000;
constexpr uint64_t queue_at = 0x1000, properties_at = 0x2000; // in each domain's memory
constexpr uint32_t queue_bytes = 0x1000;
constexpr uint32_t opcode_int = 0x03, opcode_mapd = 0x08, opcode_mapc = 0x09, opcode_mapti = 0x0A;

uint32_t domain_of_core(uint32_t core)
{
    return core % domains;
}

std::vector<char> &memory_of(Machine &machine, uint32_t core, uint64_t at)
{
    return machine.page(memory_pa + domain_of_core(core) * memory_bytes + at);
}

} // namespace

MessageHardware::MessageHardware()
{
    bus.add(0, 0x00081B36, {}).words[8] = 0x06000000; // the host bridge
    for (uint32_t i = 0; i < domains; i++) {
        PciModel::give_messages(bus.add(streams[i] >> 3, 0x00101B36, {}), messages);
    }
}

void MessageHardware::plug_in()
{
    bus.plug_in(sample_config_pa);
    its.plug_in(sample_its_pa, sample_lpi_pending_pa);
}

Messages::Messages(Machine &machine, MessageHardware &hardware)
    : machine_(machine), hardware_(hardware), commands_(hardware.its.commands.size())
{
}

void Messages::write(uint32_t stream, uint32_t event)
{
    const auto signal = hardware_.its.message(stream, event);
    const auto *known = std::find(std::begin(streams), std::begin(streams) + domains, stream);

    if (known == std::begin(streams) + domains || event >= messages) {
        require(!signal, "a message that EL2 has not mapped is signalled");
        return;
    }
    const auto domain = static_cast<uint32_t>(known - std::begin(streams));
    require(signal && signal->core == domain, "a function's message is not signalled at its domain's core");
    guests_[domain].causes++;
}

// What a guest's driver does first.
void Messages::open(uint32_t core)
{
    std::vector<char> &table = memory_of(machine_, core, properties_at);
    const uint64_t base = gicr_ipa + core / domains * 0x20000ull;

    std::fill_n(table.begin(), BH_GUEST_LPIS, static_cast<char>(0xA1));
    machine_.write(core, gicd_ipa, 4, 3);
    machine_.write(core, base + 0x70, 8, memory_ipa + properties_at + 13);
    machine_.write(core, base, 4, 1);
    machine_.write(core, its_cbaser, 8, valid | (memory_ipa + queue_at));
    machine_.write(core, its_cwriter, 8, guests_[domain_of_core(core)].written);
    machine_.write(core, its_ctlr, 4, 1);
}

// A command with fields that mostly fit.
void Messages::put(uint32_t core, Input &input)
{
    static constexpr uint8_t opcodes[] = {opcode_mapd, opcode_mapc, opcode_mapti, opcode_mapti, opcode_mapti,
                                          0x01,        opcode_int,  0x04,         0x0C,         0x0D,
                                          0x0F,        0x0B,        0x05,         0x0E};
    Guest &guest = guests_[domain_of_core(core)];
    const uint32_t opcode = input.pick(opcodes);
    const uint8_t how = input.u8(), event = input.u8() % 34, collection = input.u8() % 18;
    const uint32_t device =
        (how & 0xE0) != 0 ? streams[domain_of_core(core)] : streams[how % std::size(streams)];
    const uint32_t intid = first_lpi + input.u8() % 66;
    const uint64_t is_valid = (how & 0x1F) != 0 ? valid : 0;
    uint64_t words[4] = {opcode | uint64_t{device} << 32, event | uint64_t{intid} << 32, collection, 0};

    if (opcode == opcode_mapd) {
        words[1] = how % 6;
        words[2] = is_valid;
    } else if (opcode == opcode_mapc) {
        words[2] = is_valid | uint64_t{how % 3u} << 16 | collection;
    } else if (opcode == opcode_mapti) {
        guest.mapped.insert(intid);
    }
    guest.raises = guest.raises || opcode == opcode_int;
    std::memcpy(memory_of(machine_, core, queue_at).data() + guest.written, words, sizeof words);
    guest.written = (guest.written + static_cast<uint32_t>(sizeof words)) % queue_bytes;
}

void Messages::access_any(uint32_t core, Input &input)
{
    const uint64_t places[] = {its_ctlr,           sample_its_pa + 8,     its_cbaser,      its_cbaser + 4,
                               its_cwriter,        sample_its_pa + 0x90,  its_baser,       its_baser + 8,
                               gicr_ipa,           gicr_ipa + 0x70,       gicr_ipa + 0x78, gicr_ipa + 0x20000,
                               gicr_ipa + 0x20070, sample_its_pa + 0xFFE8};
    const uint8_t which = input.u8(), how = input.u8();
    const uint64_t ipa =
        which < 0xE0 ? places[which % std::size(places)] : sample_its_pa + (input.u16() & ~uint64_t{7});

    if ((how & 1) == 0) {
        (void)machine_.read(core, ipa, (how & 2) != 0 ? 8 : 4);
        return;
    }
    Guest &guest = guests_[domain_of_core(core)];
    const uint64_t value = (how & 4) != 0 ? input.number() : memory_ipa + (how & 0x38u) * 0x200u;
    guest.writes_any_bytes = true; // the queue may be anywhere in its memory
    machine_.write(core, ipa, (how & 2) != 0 ? 8 : 4, value);
}

// The function's configuration space.
void Messages::configure(uint32_t core, Input &input)
{
    const uint8_t how = input.u8();
    const uint32_t slot = streams[(how & 0x80) != 0 ? how & 1 : domain_of_core(core)] >> 3;
    const uint64_t ipa = sample_config_pa + slot * 0x8000ull + ((how & 0x40) != 0 ? 4 : PciModel::msix);
    const unsigned bytes = 1u << (how >> 4) % 3;

    machine_.write(core, ipa + (how >> 1 & 3 & ~(bytes - 1)), bytes, input.number());
}

void Messages::acknowledge(uint32_t core)
{
    const uint32_t intid = machine_.acknowledge(core);
    Guest &guest = guests_[domain_of_core(core)];

    if (intid == FAKE_GIC_SPURIOUS || intid < first_lpi) {
        return;
    }
    guest.taken++;
    require(guest.writes_any_bytes || guest.mapped.contains(intid),
            "a guest gets an LPI that it has not mapped");
    require(guest.writes_any_bytes || guest.raises || guest.taken <= guest.causes,
            "a guest gets more LPIs than its functions have caused");
}

void Messages::step(uint32_t core, uint8_t operation, Input &input)
{
    Guest &guest = guests_[domain_of_core(core)];

    switch (operation % 8) {
    case 0:
        open(core);
        break;
    case 1:
    case 2:
        put(core, input);
        break;
    case 3:
        machine_.write(core, its_cwriter, 8, guest.written);
        break;
    case 4:
        acknowledge(core);
        machine_.end_innermost(core);
        break;
    case 5:
        access_any(core, input);
        break;
    case 6: {
        const uint8_t which = input.u8();
        memory_of(machine_, core, properties_at)[which % BH_GUEST_LPIS] = static_cast<char>(input.u8());
        if (which >= 0xF0) {
            const uint64_t bytes = input.u64();
            std::memcpy(memory_of(machine_, core, queue_at).data() + which % 16 * 8, &bytes, sizeof bytes);
            guest.writes_any_bytes = true;
        }
        break;
    }
    default:
        configure(core, input);
        break;
    }
}

void Messages::judge() const
{
    require(hardware_.its.commands.size() == commands_, "the physical ITS gets a command");
    if (!hardware_.its.violations.empty()) {
        broken(hardware_.its.violations[0].c_str());
    }
    if (!hardware_.bus.violations.empty()) {
        broken(hardware_.bus.violations[0].c_str());
    }
}

} // namespace bulkhead_fuzz
