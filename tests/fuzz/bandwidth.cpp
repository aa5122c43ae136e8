// SPDX-License-Identifier: Apache-2.0
// Target `bandwidth`: budgets and monitors. Managers and other domains make calls for budgets and samples
// with any arguments, guests write the monitors' registers, events happen, time passes, periods end. EL2's
// own counter must count exactly while its VCPU may run, whatever guests do to their counters; the sum of
// budgets in force or waiting never exceeds what the memory sustains. A regulated device has the rate of its
// budget.
#include "machine.h"

#include <bit>

extern "C" {
#include "core/budget_admission.h"
#include "core/regulated_device.h"
#include "time/bandwidth_update.h"
#include "time/regulation.h"
#include "vm/clock.h"
}

namespace {

using namespace bulkhead_fuzz;

constexpr uint32_t hypervisor_timer = 26;
constexpr uint32_t el2_counter = 5; // of six
constexpr uint32_t counts_at_el2 = 1u << 27;
constexpr uint32_t traffic_event = 0x17;
constexpr uint64_t function_first = BH_HYPERCALL_BUDGET_READ;

// op1, CRn, CRm, op2 of the monitors' registers.
struct Register {
    uint8_t op1, crn, crm, op2;
};
constexpr Register registers[] = {{3, 9, 12, 0}, {3, 9, 12, 1}, {3, 9, 12, 2}, {3, 9, 12, 3}, {3, 9, 12, 4},
                                  {3, 9, 12, 5}, {3, 9, 12, 6}, {3, 9, 12, 7}, {3, 9, 13, 0}, {3, 9, 13, 1},
                                  {3, 9, 13, 2}, {3, 9, 14, 0}, {3, 9, 14, 3}, {0, 9, 14, 1}, {0, 9, 14, 2},
                                  {0, 9, 14, 6}, {3, 14, 15, 7}};

Options options_for(uint8_t first)
{
    Options options = options_of(first);

    options.flags[0] |= BH_DOMAIN_FLAG_BUDGET | ((first & 0x20) != 0 ? uint32_t{BH_DOMAIN_FLAG_MANAGER} : 0u);
    options.regulated = (first & 0x43) == 0x41;
    options.limited = (first & 0x10) != 0;
    options.flags[1] |= BH_DOMAIN_FLAG_PMU | ((first & 0x40) != 0 ? uint32_t{BH_DOMAIN_FLAG_BUDGET} : 0u);
    return options;
}

// With the regulator's parameters in force, and with those that wait.
void judge_admission()
{
    admission_state state{};
    struct regulation_parameters regulation {};

    for (uint32_t domain = 0; domain < domains; domain++) {
        bandwidth_parameters(domain_at(domain), clock_now(), &state.held[domain], &state.latest[domain]);
    }
    regulation_read_parameters(&regulation);
    state.regulation = regulation.held;
    state.shortest_interval_ns = regulation.held_interval_ns;
    require(admission_holds(system_manifest(), &state), "budgets in force are more than the memory sustains");
    state.regulation = regulation.latest;
    state.shortest_interval_ns = regulation.latest_interval_ns;
    require(admission_holds(system_manifest(), &state),
            "budgets that wait are more than the memory sustains");
}

// The registers in front of the device hold the rate of its budget of the latest step.
void judge_device()
{
    const manifest_header *manifest = system_manifest();
    const status_device_limit &device = cpu_at(0)->status->devices[0];
    struct regulation_parameters regulation {};

    if (device.limit_sum_events == 0) {
        return;
    }
    regulation_read_parameters(&regulation);
    require(fake_mmio32(manifest->device_regulators.page_0 + 0x120) >> 20 ==
                regulated_device_rate(&manifest->device_regulators, 0, device.limit_events,
                                      regulation.held.interval_ns),
            "a device has a rate that is not that of its budget");
}

// Invariants between any two steps.
void judge(Machine &machine)
{
    judge_admission();
    judge_device();
    for (uint32_t core = 0; core < cores && !machine.ended(); core++) {
        fake_switch_core(core);
        const bandwidth &own = cpu_at(core)->bandwidth;
        const bool counts = (sysreg_read(PMCNTENSET_EL0) >> el2_counter & 1) != 0;

        if (!own.limited) {
            continue;
        }
        require(counts == (own.budget.reservation.started && cpu_at(core)->hold == 0),
                "EL2's counter stands while a VCPU runs, or counts while none does");
        require(fake_pmu_type(el2_counter) == (traffic_event | counts_at_el2),
                "EL2's counter counts another event");
        require((sysreg_read(PMINTENSET_EL1) >> el2_counter & 1) != 0, "nobody hears of EL2's overflow");
        require((sysreg_read(PMCR_EL0) & 1) != 0, "the emulator would not interrupt for EL2");
        require((sysreg_read(PMSELR_EL0) & 31) == el2_counter, "EL2's counter is not selected any more");
        require(!machine.runs(core) || cpu_at(core)->hold == 0, "a throttled guest runs");
    }
}

void use_monitors(Machine &machine, uint32_t core, Input &input)
{
    const uint8_t how = input.u8();
    const uint8_t place = how & 0x7F;
    const bool read = (how & 0x80) != 0;
    // Registers with a name, or a counter or its type by number.
    const Register r =
        place < std::size(registers)
            ? registers[place]
            : Register{3, 14, static_cast<uint8_t>(8 + place % 64 / 8), static_cast<uint8_t>(place % 8)};

    if (!read) {
        machine.set_register(core, 1, input.number());
    }
    machine.trap(core, bulkhead_test::esr_sysreg(3, r.op1, r.crn, r.crm, r.op2, 1, read));
}

using Words = std::array<uint64_t, BH_REGULATION_WORDS>;

Words parameters()
{
    manifest_regulation found{};

    (void)regulation_read(&found);
    return std::bit_cast<Words>(found);
}

// Parameters of the regulator: the present ones, with some words changed. A refused change changes nothing.
void change_regulation(Machine &machine, uint32_t core, Input &input)
{
    const bool manager = domain_has_flag(domain_at(core % domains), BH_DOMAIN_FLAG_MANAGER);
    const Words before = parameters();
    Words asked = before;

    for (uint32_t count = input.u8() % 4; count > 0; count--) {
        asked[input.u8() % asked.size()] = input.number();
    }
    if (machine.ended() || !machine.runs(core)) {
        return;
    }
    for (uint32_t i = 3; i < asked.size(); i++) {
        machine.set_register(core, 1 + i, asked[i]);
    }
    const uint64_t answer =
        machine.call(core, false, BH_HYPERCALL_REGULATION_CHANGE, asked[0], asked[1], asked[2]);

    if (machine.ended()) {
        return;
    }
    require(parameters() == (manager && answer == 0 ? asked : before), "parameters that nobody asked for");
    require(manager || answer != 0, "parameters of a guest that is no manager");
}

// A refused change changes nothing.
void call(Machine &machine, uint32_t core, Input &input)
{
    const uint64_t function = function_first + input.u8() % 7;

    if (function == BH_HYPERCALL_REGULATION_CHANGE) {
        change_regulation(machine, core, input);
        return;
    }
    const uint64_t x1 = input.number();
    const uint64_t x2 = input.number();
    const uint64_t x3 = (x2 & 1) != 0 ? input.number() : 1000 * (1 + input.u16());

    if (machine.ended() || !machine.runs(core)) {
        return;
    }
    struct Budget {
        uint64_t events, period_ns;
        bool operator==(const Budget &) const = default;
    };
    const auto budget_of = [](uint32_t domain) {
        const auto latest = bandwidth_latest_setting(domain_at(domain), 0);
        return Budget{latest.events, latest.period_ns};
    };
    const Budget before[] = {budget_of(0), budget_of(1)};
    const bool manager = domain_has_flag(domain_at(core % domains), BH_DOMAIN_FLAG_MANAGER);
    const uint64_t answer = machine.call(core, false, function, x1, x2, x3);

    if (machine.ended()) {
        return;
    }
    for (uint32_t domain = 0; domain < domains; domain++) {
        const bool asked = manager && answer == 0 && function == BH_HYPERCALL_BUDGET_CHANGE && x1 == domain;

        require(budget_of(domain) == (asked ? Budget{x2, x3} : before[domain]),
                "a budget that nobody asked for");
    }
}

void step(Machine &machine, Input &input)
{
    const uint8_t operation = input.u8();
    const uint32_t core = operation >> 6;

    switch (operation & 7) {
    case 0:
        machine.interrupt(core);
        break;
    case 1:
        machine.pass_time(input.number() & 0xFFFFFFFF);
        machine.raise(core, hypervisor_timer);
        machine.interrupt(core);
        break;
    case 2:
        if (machine.runs(core)) {
            fake_switch_core(core);
            fake_pmu_cause((operation & 8) != 0 ? traffic_event : input.u8(),
                           static_cast<fake_level>(operation >> 4 & 1),
                           input.u16() * ((operation & 0x20) != 0 ? 0x8000u : 1u));
            machine.interrupt(core);
        }
        break;
    case 3:
        call(machine, core, input);
        break;
    case 4:
        machine.acknowledge(core);
        machine.end_innermost(core);
        break;
    case 5:
        if (operation == 0x5D || operation == 0x9D) { // the end of a domain: rarely
            machine.serror(core);
            break;
        }
        [[fallthrough]];
    default:
        use_monitors(machine, core, input);
        break;
    }
    judge(machine);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    Input input(data, bytes);
    const uint8_t first = input.u8();
    Machine machine(options_for(first));

    judge(machine);
    while (!input.empty() && !machine.ended()) {
        step(machine, input);
    }
    if ((first & 0x80) != 0) {
        machine.end_all();
    }
    return 0;
}
