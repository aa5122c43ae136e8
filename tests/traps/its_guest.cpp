// SPDX-License-Identifier: Apache-2.0
// Guests and their virtual ITS; see the header.
#include "its_guest.h"

#include <cstring>

extern "C" {
#include "console/console.h"
}

namespace bulkhead_test {

namespace command {

namespace {

constexpr uint64_t valid_bit = 1ull << 63;

ItsCommand of_event(uint64_t opcode, uint32_t device, uint32_t event, uint64_t third = 0)
{
    return {opcode | uint64_t{device} << 32, event, third, 0};
}

} // namespace

ItsCommand mapd(uint32_t device, uint32_t event_bits, bool valid)
{
    return {0x08 | uint64_t{device} << 32, event_bits - 1, valid ? valid_bit | 0x40005000 : 0, 0};
}
ItsCommand mapc(uint32_t collection, uint32_t vcpu, bool valid)
{
    return {0x09, 0, (valid ? valid_bit : 0) | uint64_t{vcpu} << 16 | collection, 0};
}
ItsCommand mapti(uint32_t device, uint32_t event, uint32_t intid, uint32_t collection)
{
    return {0x0A | uint64_t{device} << 32, uint64_t{intid} << 32 | event, collection, 0};
}
ItsCommand movi(uint32_t device, uint32_t event, uint32_t collection)
{
    return of_event(0x01, device, event, collection);
}
ItsCommand interrupt(uint32_t device, uint32_t event)
{
    return of_event(0x03, device, event);
}
ItsCommand clear(uint32_t device, uint32_t event)
{
    return of_event(0x04, device, event);
}
ItsCommand inv(uint32_t device, uint32_t event)
{
    return of_event(0x0C, device, event);
}
ItsCommand invall(uint32_t collection)
{
    return {0x0D, 0, collection, 0};
}
ItsCommand discard(uint32_t device, uint32_t event)
{
    return of_event(0x0F, device, event);
}
ItsCommand sync(uint32_t vcpu)
{
    return {0x05, 0, uint64_t{vcpu} << 16, 0};
}

} // namespace command

namespace {

constexpr uint64_t cpu_on = 0xC4000003;

// The first core of the domain that a core belongs to.
uint32_t first_core(uint32_t core)
{
    return core == second_core ? linux_core : core;
}

} // namespace

ItsMachine::ItsMachine()
{
    bus.add(0, 0x00081B36, {}).words[8] = 0x06000000; // the host bridge
    PciModel::give_messages(bus.add(1, 0x11E81234, {{0x10, 0x100000}}), 4);
    PciModel::Function &second = bus.add(2, 0x00101B36, {{0x10, 0x4000 | 4}});
    PciModel::give_reset(second);
    PciModel::give_messages(second, 65);
}

void ItsMachine::boot(const std::function<void(SampleManifest &)> &change, uint32_t list_registers)
{
    auto sample = make_sample_manifest();

    give_its(*sample);
    change(*sample);
    sample->seal();
    boot(sample->header, list_registers);
}

void ItsMachine::boot(const manifest_header &manifest, uint32_t list_registers)
{
    written = {};
    machine = std::make_unique<HostedMachine>(manifest, list_registers, [this] {
        smmu.plug_in(sample_smmu_pa);
        bus.plug_in(sample_config_pa);
        its.plug_in(sample_its_pa, sample_lpi_pending_pa);
    });
}

std::string ItsMachine::said()
{
    fake_switch_core(1);
    console_write_start();
    return machine->uart_output();
}

bool ItsMachine::store(uint32_t core, uint64_t ipa, uint64_t value, unsigned bytes)
{
    machine->on_core(core);
    const uint64_t before = fake_sysreg(SYSREG_ID_ELR_EL2);
    machine->regs(core).x[0] = value;
    machine->trap(esr_store(bytes, 0), ipa);
    return fake_sysreg(SYSREG_ID_ELR_EL2) != before;
}

uint64_t ItsMachine::load(uint32_t core, uint64_t ipa, unsigned bytes)
{
    machine->on_core(core);
    machine->trap(esr_load(bytes, 0), ipa);
    return machine->regs(core).x[0];
}

void ItsMachine::take(uint32_t core)
{
    machine->on_core(core);
    for (int i = 0; i < 1000 && fake_gic_has_interrupt(); i++) {
        machine->interrupt();
    }
}

void ItsMachine::take_all()
{
    for (int round = 0; round < 3; round++) { // cores notify each other
        for (const uint32_t core : {control_core, linux_core, second_core}) {
            take(core);
        }
    }
}

std::vector<uint32_t> ItsMachine::handled(uint32_t core)
{
    std::vector<uint32_t> intids;

    for (int i = 0; i < 1000; i++) {
        take_all();
        machine->on_core(core);
        const uint32_t intid = fake_gic_guest_acknowledge();
        if (intid == FAKE_GIC_SPURIOUS) {
            break;
        }
        intids.push_back(intid);
        fake_gic_guest_end(intid);
    }
    return intids;
}

bool ItsMachine::start_second_vcpu()
{
    machine->on_core(linux_core);
    machine->hvc(cpu_on, 1, 0x40004000, 0);
    machine->on_core(second_core);
    return domain_at(1)->vcpus[1].power == uint32_t{VCPU_ON};
}

uint64_t ItsMachine::pa_of(uint32_t core, uint64_t ipa)
{
    return ipa - 0x40000000 + (core == control_core ? 0x48000000 : 0x48006000);
}

void ItsMachine::set_property(uint32_t core, uint32_t intid, uint8_t property)
{
    machine->page(pa_of(core, properties_ipa))[intid - first_lpi] = static_cast<char>(property);
}

void ItsMachine::open(uint32_t core, uint8_t property)
{
    auto &page = machine->page(pa_of(core, properties_ipa));
    std::fill(page.begin(), page.end(), static_cast<char>(property));
    store(core, gicd_ipa, 3, 4);
    store(core, gicr_ipa + 0x70, properties_ipa | 13, 8);
    store(core, gicr_ipa + 0x78, pending_ipa, 8);
    enable_lpis(core, 0);
    store(core, baser, valid | 0x40003000, 8);
    store(core, baser + 8, valid | 0x40004000, 8);
    store(core, cbaser, valid | queue_ipa, 8);
    store(core, cwriter, 0, 8);
    written[first_core(core)] = 0;
    store(core, ctlr, 1, 4);
}

void ItsMachine::enable_lpis(uint32_t core, uint32_t vcpu, bool enabled)
{
    store(core, gicr_ipa + vcpu * 0x20000ull, enabled ? 1 : 0, 4);
}

void ItsMachine::put(uint32_t core, const ItsCommand &command)
{
    uint64_t &offset = written[first_core(core)];

    std::memcpy(machine->page(pa_of(core, queue_ipa)).data() + offset, command.data(), sizeof command);
    offset = (offset + sizeof command) % 0x1000;
}

unsigned ItsMachine::run(uint32_t core)
{
    unsigned exits = 1;

    while (!store(core, cwriter, written[first_core(core)], 8) && exits < 1000) {
        exits++;
    }
    return exits;
}

void ItsMachine::execute(uint32_t core, std::initializer_list<ItsCommand> commands)
{
    for (const ItsCommand &command : commands) {
        put(core, command);
    }
    run(core);
}

void ItsMachine::map(uint32_t core, uint32_t events)
{
    const uint32_t device = core == control_core ? control_device : linux_device;

    put(core, command::mapd(device, 5));
    put(core, command::mapc(0, 0));
    for (uint32_t event = 0; event < events; event++) {
        put(core, command::mapti(device, event, first_lpi + event, 0));
    }
    run(core);
}

} // namespace bulkhead_test
