// SPDX-License-Identifier: Apache-2.0
//
// The fake machine behind the tests: does what the hypervisor's core (manifest, clock, cpu) would do, in the
// simplest form that the drivers under test cannot tell from the real one.
#include "test_system.h"
#include "console/vuart.h"
#include "core/path_costs.h"
#include "run/system_end.h"
#include "test_uart.h"
#include "time/bandwidth.h"
#include "time/guest_pmu.h"
#include "vgic/vgic.h"

#include <cstdlib>
#include <cstring>
#include <memory>

extern "C" {
#include "run/domain_life.h"
#include "run/irq.h"
#include "run/shared_core.h"
#include "trap/trap.h"
#include "vm/clock.h"
#include "vm/system.h"
#include <arch/gic.h>
}

namespace bulkhead_test {

namespace {

constexpr uint32_t kCores = 4;

} // namespace

struct TestSystem::State {
    struct manifest_header manifest {};
    std::array<struct manifest_domain, BH_MAX_DOMAINS> configs{};
    std::array<struct status_core, kCores> statistics{};
    std::array<struct cpu, BH_MAX_CORES> cpus{};
    std::array<struct domain, BH_MAX_DOMAINS> domains{};
    std::array<struct vcpu, BH_MAX_VCPUS> vcpus{};
    uint32_t domain_count = 0;
    uint64_t time_us = 0;
    uint64_t ticks = 1;
    uint64_t ticks_per_look = 0;
    uint64_t alarm = 0; // of the console core; 0: none
    uint64_t look = 0;  // RARE_ALARM_EARLY; 0: none
};

namespace {

std::unique_ptr<TestSystem::State> machine;

} // namespace

TestSystem::TestSystem(std::initializer_list<DomainSpec> domains, uint32_t list_registers) : specs_(domains)
{
    uint32_t next_vcpu = 0;

    fake_reset();
    machine = std::make_unique<State>();
    auto &platform = machine->manifest.platform;
    make_gic(platform, kCores, list_registers);
    make_uart(kUart, kPhysicalUartIntid);
    platform.uart_pa = kUart;
    platform.uart_irq = kPhysicalUartIntid;
    platform.uart_clock_hz = 24'000'000;
    platform.cnthp_irq = 26;
    platform.cntv_irq = kVirtualTimer;
    platform.cntp_irq = 30;
    platform.maintenance_irq = FAKE_GIC_MAINTENANCE;

    for (uint32_t i = 0; i < kCores; i++) {
        struct cpu &cpu = machine->cpus[i];

        cpu.index = i;
        cpu.mpidr = i;
        cpu.status = &machine->statistics[i];
        fake_set_core_sysreg(i, SYSREG_ID_TPIDR_EL2, reinterpret_cast<uintptr_t>(&cpu));
    }
    console_init(&platform, 0, BH_ALL_DOMAINS);
    gic_init(&platform);
    for (const DomainSpec &spec : specs_) {
        uint32_t index = machine->domain_count++;
        struct domain &domain = machine->domains[index];

        std::strncpy(machine->configs[index].name, spec.name.c_str(), BH_NAME_BYTES);
        machine->configs[index].flags = spec.flags;
        domain.config = &machine->configs[index];
        domain.index = index;
        domain.state = BH_DOMAIN_STATE_RUNNING;
        domain.vcpus = &machine->vcpus[next_vcpu];
        for (uint32_t core : spec.cores) {
            struct vcpu &vcpu = machine->vcpus[next_vcpu++];

            vcpu.domain = &domain;
            vcpu.index = domain.vcpu_count++;
            vcpu.cpu = &machine->cpus[core];
            machine->cpus[core].vcpu = &vcpu;
            machine->cpus[core].pinned = &vcpu;
        }
        vgic_domain_init(&domain);
        vuart_init(&domain);
        for (uint32_t spi : spec.spis) {
            (void)vgic_add_spi_hw(&domain, spi, 0);
        }
    }
    for (uint32_t i = 0; i < kCores; i++) {
        fake_switch_core(i);
        (void)gic_cpu_init(i, i);
        if (machine->cpus[i].vcpu != nullptr) {
            vgic_vcpu_reset(machine->cpus[i].vcpu);
        }
    }
    fake_switch_core(0);
    console_start();
    (void)take_interrupts();
    fake_forget_writes();
}

TestSystem::~TestSystem()
{
    fake_reset();
    machine.reset();
}

struct domain &TestSystem::domain(uint32_t index)
{
    return machine->domains.at(index);
}

struct vcpu &TestSystem::run(uint32_t domain_index, uint32_t vcpu_index)
{
    struct vcpu &vcpu = machine->domains.at(domain_index).vcpus[vcpu_index];

    fake_switch_core(vcpu.cpu->index);
    return vcpu;
}

void TestSystem::run_core(uint32_t core)
{
    fake_switch_core(core);
}

bool TestSystem::take_interrupts()
{
    for (uint32_t i = 0; i < 1000; i++) {
        if (!fake_gic_has_interrupt()) {
            return true;
        }
        struct cpu *cpu = &machine->cpus[fake_current_core()];
        // One at a time: a storm must end here, not in the handler.
        if (cpu->vcpu != nullptr) {
            (void)trap_irq_short();
        } else {
            (void)irq_handle_one(cpu);
        }
    }
    return false;
}

bool TestSystem::settle()
{
    uint32_t core = fake_current_core();
    bool quiet = false;

    for (uint32_t round = 0; round < 100 && !quiet; round++) {
        quiet = true;
        for (uint32_t i = 0; i < kCores; i++) {
            fake_switch_core(i);
            if (fake_gic_has_interrupt()) {
                quiet = false;
                if (!take_interrupts()) {
                    fake_switch_core(core);
                    return false;
                }
            }
        }
    }
    fake_switch_core(core);
    if (quiet && machine->alarm != 0) {
        run_alarm();
        return settle();
    }
    return quiet;
}

void TestSystem::run_alarm()
{
    uint32_t core = fake_current_core();

    machine->ticks = machine->alarm;
    fake_switch_core(0);
    (void)clock_take_alarms();
    console_handle();
    fake_switch_core(core);
}

void TestSystem::look_again()
{
    machine->ticks = std::max(machine->ticks, machine->look);
    (void)rare_alarm_take();
    vgic_look_again(this_cpu());
}

bool TestSystem::looks_again() const
{
    return machine->look != 0;
}

uint64_t TestSystem::counter() const
{
    return machine->ticks;
}

void TestSystem::set_counter_step(uint64_t ns)
{
    machine->ticks_per_look = ns;
}

bool TestSystem::has_alarm() const
{
    return machine->alarm != 0;
}

void TestSystem::set_time_us(uint64_t time_us)
{
    machine->time_us = time_us;
}

std::string &TestSystem::uart_output()
{
    return uart_text();
}

void TestSystem::type(std::string_view text)
{
    for (char character : text) {
        uart_receives(static_cast<uint8_t>(character));
    }
}

void TestSystem::set_uart_full(bool full)
{
    set_uart_room(full ? 0 : -1);
}

void TestSystem::set_uart_room(int characters)
{
    uart_has_room(characters);
}

namespace {

struct mmio_access access_of(uint64_t offset, uint32_t bytes)
{
    struct mmio_access access {};

    access.offset = offset;
    access.bytes = bytes;
    return access;
}

} // namespace

uint64_t Guest::read_dist(uint64_t offset, uint32_t bytes) const
{
    struct mmio_access access = access_of(offset, bytes);

    return vgic_dist_access(&here(), &access) ? access.value : ~uint64_t{0};
}

void Guest::write_dist(uint64_t offset, uint64_t value, uint32_t bytes) const
{
    struct mmio_access access = access_of(offset, bytes);

    access.write = true;
    access.value = value;
    (void)vgic_dist_access(&here(), &access);
}

uint32_t Guest::read_uart(uint64_t offset) const
{
    struct mmio_access access = access_of(offset, 4);

    return vuart_access(&here(), &access) ? static_cast<uint32_t>(access.value) : ~0u;
}

void Guest::write_uart(uint64_t offset, uint32_t value) const
{
    struct mmio_access access = access_of(offset, 4);

    access.write = true;
    access.value = value;
    (void)vuart_access(&here(), &access);
}

void Guest::print(std::string_view text) const
{
    for (char character : text) {
        write_uart(0, static_cast<uint8_t>(character));
    }
}

void Guest::enable_spi(uint32_t intid) const
{
    write_dist(0x100 + intid / 32 * 4, 1u << intid % 32);
}

void Guest::disable_spi(uint32_t intid) const
{
    write_dist(0x180 + intid / 32 * 4, 1u << intid % 32);
}

uint32_t Guest::acknowledge() const
{
    (void)here();
    return fake_gic_guest_acknowledge();
}

void Guest::end(uint32_t intid) const
{
    (void)here();
    fake_gic_guest_end(intid);
}

void Guest::drop_priority() const
{
    (void)here();
    fake_gic_guest_drop_priority();
}

void Guest::deactivate(uint32_t intid) const
{
    (void)here();
    fake_gic_guest_deactivate(intid);
}

std::vector<uint32_t> Guest::take_all() const
{
    std::vector<uint32_t> taken;

    (void)here();
    while (taken.size() < 1000) {
        if (!system_.take_interrupts()) {
            break;
        }
        uint32_t intid = fake_gic_guest_acknowledge();

        if (intid == FAKE_GIC_SPURIOUS) {
            break;
        }
        taken.push_back(intid);
        fake_gic_guest_end(intid);
    }
    return taken;
}

} // namespace bulkhead_test

// Functions that the hypervisor's core provides to its devices.
using bulkhead_test::machine;

extern "C" {

struct cpu *cpu_at(uint32_t index)
{
    return &machine->cpus.at(index);
}

void cpu_send_request(struct cpu *target, uint32_t request)
{
    uint32_t before = target->requests;

    target->requests |= request;
    if (before == 0) {
        gic_send_sgi(target->mpidr, 0);
    }
}

struct domain *domain_at(uint32_t index)
{
    return &machine->domains.at(index);
}

uint32_t domain_count(void)
{
    return machine->domain_count;
}

uint64_t clock_since_start_us(void)
{
    return machine->time_us;
}

uint64_t clock_now(void)
{
    machine->ticks += machine->ticks_per_look;
    return machine->ticks;
}

uint64_t clock_ticks(uint64_t duration_ns)
{
    return duration_ns;
}

void clock_set_alarm(enum clock_alarm alarm, uint64_t deadline)
{
    (alarm == CLOCK_ALARM_RARE ? machine->look : machine->alarm) = deadline;
}

uint32_t clock_take_alarms(void)
{
    machine->alarm = 0;
    return 1u << CLOCK_ALARM_CONSOLE;
}

const struct manifest_header *system_manifest(void)
{
    return &machine->manifest;
}

// No domain has a budget or monitors here.
bool bandwidth_pause(struct cpu *)
{
    return false;
}
void bandwidth_resume(struct cpu *, bool) {}
void bandwidth_overflow(struct cpu *) {}
void bandwidth_period(struct cpu *) {}
void bandwidth_published(struct cpu *) {}
void flows_handle_request(struct cpu *) {}

// Nothing is measured.
struct path_recorder *path_recorder_here()
{
    return nullptr;
}

uint64_t path_clock()
{
    return 0;
}

void path_record(struct path_recorder *, const struct path_mark *, enum bh_path_part, uint64_t, uint32_t) {}

bool flows_engine_interrupt(uint32_t)
{
    return false;
}
void guest_pmu_overflow(struct vcpu *) {}

// No broker has an engine here.
void domain_ask_engine(void) {}

// No core of this machine is shared.
void shared_core_reschedule(struct cpu *) {}
void shared_core_overflow(struct cpu *) {}
bool shared_core_inject_spi(const struct cpu *, uint32_t)
{
    return false;
}

void system_end(enum bh_end_reason) {}

void system_finish_if_ending(void) {}

void system_end_core(void)
{
    std::abort();
}
}
