// SPDX-License-Identifier: Apache-2.0
//
// A hosted machine with an ITS, and what its guests do with their virtual ITS: registers by trapped accesses,
// commands in a queue in the guest's memory. Opcodes and fields are those of Arm IHI 0069, chapter 5.3.
#pragma once

#include "hosted_machine.h"
#include "its_model.h"
#include "pci_model.h"
#include "smmu_model.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bulkhead_test {

// Device ids: control has the first function with one message, linux has the second one with 32.
constexpr uint32_t control_device = 1 << 3, linux_device = 2 << 3;
constexpr uint32_t first_lpi = 8192;
constexpr uint32_t control_core = 0, linux_core = 1, second_core = 3; // of linux's second VCPU

using ItsCommand = std::array<uint64_t, 4>;
namespace command {
ItsCommand mapd(uint32_t device, uint32_t event_bits, bool valid = true);
ItsCommand mapc(uint32_t collection, uint32_t vcpu, bool valid = true);
ItsCommand mapti(uint32_t device, uint32_t event, uint32_t intid, uint32_t collection);
ItsCommand movi(uint32_t device, uint32_t event, uint32_t collection);
ItsCommand interrupt(uint32_t device, uint32_t event);
ItsCommand clear(uint32_t device, uint32_t event);
ItsCommand inv(uint32_t device, uint32_t event);
ItsCommand invall(uint32_t collection);
ItsCommand discard(uint32_t device, uint32_t event);
ItsCommand sync(uint32_t vcpu);
} // namespace command

struct ItsMachine {
    // Tests change the models, and then boot.
    ItsMachine();
    void boot(
        const std::function<void(SampleManifest &)> &change = [](SampleManifest &) {},
        uint32_t list_registers = 4);
    void boot(const manifest_header &manifest, uint32_t list_registers = 4);
    std::string said();

    // The core's guest accesses a register. False: the guest must repeat the instruction, or its domain
    // ended.
    bool store(uint32_t core, uint64_t ipa, uint64_t value, unsigned bytes);
    uint64_t load(uint32_t core, uint64_t ipa, unsigned bytes);
    // The core takes its physical interrupts.
    void take(uint32_t core);
    void take_all();
    // The same, and the guest acknowledges and ends what is signalled: the INTIDs.
    std::vector<uint32_t> handled(uint32_t core);
    bool start_second_vcpu();

    // Physical addresses of a guest's first six pages.
    static uint64_t pa_of(uint32_t core, uint64_t ipa);
    void set_property(uint32_t core, uint32_t intid, uint8_t property);
    // What a driver does first: the distributor, the tables and the queue. LPIs have `property`.
    void open(uint32_t core, uint8_t property = 0xA1);
    void enable_lpis(uint32_t core, uint32_t vcpu, bool enabled = true);
    // Puts a command into the guest's queue; runs the queue, as often as the guest must repeat it.
    void put(uint32_t core, const ItsCommand &command);
    unsigned run(uint32_t core);
    void execute(uint32_t core, std::initializer_list<ItsCommand> commands);
    // Maps events 0 to `events` - 1 to as many LPIs, which VCPU 0 of the domain gets.
    void map(uint32_t core, uint32_t events);

    SmmuModel smmu;
    PciModel bus;
    ItsModel its;
    std::unique_ptr<HostedMachine> machine;
    std::array<uint64_t, 4> written{}; // CWRITER of the guest, by its domain's first core

    static constexpr uint64_t its_ipa = sample_its_pa, gicd_ipa = 0x08000000, gicr_ipa = 0x080A0000;
    static constexpr uint64_t queue_ipa = 0x40001000, properties_ipa = 0x40002000, pending_ipa = 0x40010000;
    static constexpr uint64_t ctlr = its_ipa, typer = its_ipa + 8, cbaser = its_ipa + 0x80,
                              cwriter = its_ipa + 0x88, creadr = its_ipa + 0x90, baser = its_ipa + 0x100;
    static constexpr uint64_t valid = 1ull << 63;
};

} // namespace bulkhead_test
