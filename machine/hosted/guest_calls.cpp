// SPDX-License-Identifier: Apache-2.0
// Functions that bare-metal guests call instead of executing an instruction
// (guests/arch/hosted/include/arch/machine.h): handled by the virtual interrupt controller or a timer, or
// trapped to EL2 with the syndrome that hardware would give. Interrupts are taken at every call.
#include "guests/arch/hosted/include/arch/machine.h"

#include "hypervisor/base/syndrome.h"
#include "machine/hosted/calls.h"
#include "machine/hosted/cpu.h"
#include "machine/hosted/guest_monitors.h"
#include "machine/hosted/guest_partitions.h"
#include "machine/hosted/guest_trap.h"
#include "machine/hosted/system.h"

using namespace bulkhead::machine;
using hosted::cpu;
using hosted::current;

using hosted::of_class;
using hosted::sysreg_syndrome;
using hosted::trap;

namespace {

constexpr std::uint64_t vector_table_mask = 0x7FF; // RES0
constexpr std::uint64_t ctr_el0 = 0x84448004;      // Cortex-A53: lines of 64 bytes
constexpr std::uint64_t abort_described = 1u << 24;
constexpr std::uint64_t abort_64_bits = 1u << 15;
constexpr std::uint64_t abort_write = 1u << 6;
constexpr std::uint64_t translation_fault = 0x04;
constexpr std::uint64_t hcr_tpu = 1u << 24;
constexpr std::uint64_t hcr_ttlb = 1u << 25;
constexpr std::uint64_t tlbi_vmalle1is = SYSREG_ENCODING(1u, 0u, 8u, 3u, 0u);
constexpr std::uint64_t ic_ialluis = SYSREG_ENCODING(1u, 0u, 7u, 1u, 0u);

// A load or store to a device's register: EL2 emulates it, or the guest has the device.
std::uint64_t device_access(std::uint64_t ipa, unsigned bytes, bool write, std::uint64_t value,
                            bool described, const void *where)
{
    cpu &core = current().running();
    const std::uint64_t size = bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
    for (;;) {
        core.pay_translation(ipa, write ? access_kind::write : access_kind::read);
        const auto found = core.stage2().walk(current().memory(), ipa);
        if (const auto *page = std::get_if<hosted::translation>(&found)) {
            core.timing().uncached(page->pa, bytes, write ? access_kind::write : access_kind::read);
            core.timing().order();
            const std::uint64_t pa = page->pa.value;
            const std::uint64_t answer = write ? 0 : current().read_device(pa, bytes);
            if (write) {
                current().write_device(pa, bytes, value);
            }
            core.take_interrupts();
            return answer;
        }
        const auto level = std::get<hosted::walk_fault>(found).level;
        std::uint64_t syndrome =
            of_class(EC_DATA_ABORT_LOWER) | translation_fault | level | (write ? abort_write : 0);
        if (described) {
            syndrome |= abort_described | size << 22 | (bytes == 8 ? abort_64_bits : 0);
        }
        core.exchange()[0] = value;
        const bool done = core.leave({syndrome, ipa, ipa, core.resume_address(where)});
        const std::uint64_t answer = core.exchange()[0];
        core.take_interrupts();
        if (done) {
            return answer;
        }
    }
}

devices::gic_virtual_interface &interface_of(const cpu &core)
{
    return current().gic().virtual_interface(core.id());
}

// Called after the guest has changed its virtual interface.
void changed(cpu &core)
{
    current().gic().virtual_changed(core.id());
    core.take_interrupts();
}

void deactivate_physical(cpu &core, std::uint32_t intid)
{
    if (intid != devices::gic_spurious) {
        current().gic().deactivate(core.id(), intid);
    }
}

// The CPU interface's system registers are undefined where the board's interface is memory-mapped.
bool is_undefined(enum guest_sysreg which)
{
    switch (which) {
    case GUEST_SYSREG_ICC_SRE_EL1:
    case GUEST_SYSREG_ICC_IAR1_EL1:
    case GUEST_SYSREG_ICC_EOIR1_EL1:
    case GUEST_SYSREG_ICC_BPR1_EL1:
    case GUEST_SYSREG_ICC_CTLR_EL1:
    case GUEST_SYSREG_ICC_IGRPEN1_EL1:
    case GUEST_SYSREG_ICC_PMR_EL1:
    case GUEST_SYSREG_ICC_SGI1R_EL1:
        return !current().has_gic_v3();
    default:
        return false;
    }
}

// ICH_VMCR_EL2 holds the guest's controls.
void set_field(std::uint64_t &vmcr, unsigned shift, std::uint64_t mask, std::uint64_t value)
{
    vmcr = (vmcr & ~(mask << shift)) | (value & mask) << shift;
}

} // namespace

std::uint64_t guest_sysreg_read(enum guest_sysreg which)
{
    cpu &core = current().running();
    devices::generic_timer &timer = current().timer();
    const void *where = __builtin_return_address(0);
    if (is_undefined(which)) {
        core.inject_undefined(core.resume_address(where));
        return 0;
    }
    if (const auto count = hosted::guest_reads_monitors(which, where)) {
        return *count;
    }
    if (const auto value = hosted::guest_reads_partitions(which, where)) {
        return *value;
    }
    switch (which) {
    case GUEST_SYSREG_CNTV_CTL_EL0:
        return timer.control(core.id(), devices::timer_kind::virtual_);
    case GUEST_SYSREG_CNTV_CVAL_EL0:
        return timer.compare(core.id(), devices::timer_kind::virtual_);
    case GUEST_SYSREG_CNTVCT_EL0:
        return timer.counter() - timer.offset(core.id());
    case GUEST_SYSREG_CNTFRQ_EL0:
        return timer.frequency_hz();
    case GUEST_SYSREG_MPIDR_EL1:
        return core.state()[SYSREG_ID_VMPIDR_EL2];
    case GUEST_SYSREG_TPIDR_EL1:
        return core.state()[SYSREG_ID_TPIDR_EL1];
    case GUEST_SYSREG_VBAR_EL1:
        return core.state()[SYSREG_ID_VBAR_EL1];
    case GUEST_SYSREG_CPACR_EL1:
        return core.state()[SYSREG_ID_CPACR_EL1];
    case GUEST_SYSREG_ESR_EL1:
        return core.state()[SYSREG_ID_ESR_EL1];
    case GUEST_SYSREG_FAR_EL1:
        return core.state()[SYSREG_ID_FAR_EL1];
    case GUEST_SYSREG_CTR_EL0:
        return ctr_el0;
    case GUEST_SYSREG_ID_AA64PFR0_EL1:
        return trap(sysreg_syndrome(SYSREG_ENCODING(3u, 0u, 0u, 4u, 0u), true), 0, where);
    case GUEST_SYSREG_ICC_SRE_EL1:
        return 7;
    case GUEST_SYSREG_ICC_IAR1_EL1: {
        core.timing().order();
        const std::uint32_t intid = interface_of(core).acknowledge();
        changed(core);
        return intid;
    }
    default:
        current().give_up("a guest reads a register that can only be written");
    }
}

void guest_sysreg_write(enum guest_sysreg which, std::uint64_t value)
{
    cpu &core = current().running();
    devices::generic_timer &timer = current().timer();
    const void *where = __builtin_return_address(0);
    if (hosted::guest_writes_monitors(which, value, where) ||
        hosted::guest_writes_partitions(which, value, where)) {
        return;
    }
    core.timing().order();
    if (is_undefined(which)) {
        return core.inject_undefined(core.resume_address(where));
    }
    switch (which) {
    case GUEST_SYSREG_CNTV_CTL_EL0:
        timer.set_control(core.id(), devices::timer_kind::virtual_, value);
        break;
    case GUEST_SYSREG_CNTV_CVAL_EL0:
        timer.set_compare(core.id(), devices::timer_kind::virtual_, value);
        break;
    case GUEST_SYSREG_VBAR_EL1:
        core.state()[SYSREG_ID_VBAR_EL1] = value & ~vector_table_mask;
        break;
    case GUEST_SYSREG_TPIDR_EL1:
        core.state()[SYSREG_ID_TPIDR_EL1] = value;
        break;
    case GUEST_SYSREG_CPACR_EL1: // floating point is not trapped here
        core.state()[SYSREG_ID_CPACR_EL1] = value;
        break;
    case GUEST_SYSREG_ICC_SRE_EL1:
        break;
    case GUEST_SYSREG_ICC_EOIR1_EL1:
        deactivate_physical(core, interface_of(core).end(static_cast<std::uint32_t>(value)));
        return changed(core);
    case GUEST_SYSREG_ICC_BPR1_EL1:
        set_field(interface_of(core).vmcr, 18, 7, value);
        return changed(core);
    case GUEST_SYSREG_ICC_CTLR_EL1:
        set_field(interface_of(core).vmcr, 9, 1, value >> 1);
        return changed(core);
    case GUEST_SYSREG_ICC_IGRPEN1_EL1:
        set_field(interface_of(core).vmcr, 1, 1, value);
        return changed(core);
    case GUEST_SYSREG_ICC_PMR_EL1:
        set_field(interface_of(core).vmcr, 24, 0xF8, value);
        return changed(core);
    case GUEST_SYSREG_ICC_SGI1R_EL1:
        trap(sysreg_syndrome(SYSREG_ENCODING(3u, 0u, 12u, 11u, 5u), false), value, where);
        return;
    default:
        current().give_up("a guest writes a register that can only be read");
    }
    core.take_interrupts();
}

std::uint64_t guest_mmio_read(std::uint64_t address, unsigned bytes)
{
    return device_access(address, bytes, false, 0, true, __builtin_return_address(0));
}

void guest_mmio_write(std::uint64_t address, unsigned bytes, std::uint64_t value)
{
    device_access(address, bytes, true, value, true, __builtin_return_address(0));
}

void guest_mmio_write_pair(std::uint64_t address, std::uint64_t first, std::uint64_t)
{
    device_access(address, 8, true, first, false, __builtin_return_address(0));
}

void guest_execute(enum guest_instruction which)
{
    cpu &core = current().running();
    switch (which) {
    case GUEST_TLBI:
        if (!hosted::traps(hcr_ttlb, tlbi_vmalle1is, __builtin_return_address(0))) {
            const std::uint16_t vmid = core.vmid();
            current().broadcast_maintenance();
            for (std::size_t n = 0; n < current().core_count(); ++n) {
                current().core_at(n).invalidate_stage1(vmid);
            }
        }
        core.timing().spend(current().board().barrier);
        break;
    case GUEST_IC:
        if (!hosted::traps(hcr_tpu, ic_ialluis, __builtin_return_address(0))) {
            current().broadcast_maintenance();
        }
        core.timing().spend(current().board().barrier);
        break;
    case GUEST_DSB:
    case GUEST_ISB:
        core.timing().spend(current().board().barrier);
        break;
    case GUEST_WFI:
        core.guest_wait(__builtin_return_address(0));
        break;
    case GUEST_WFE:
        core.guest_wait_for_event();
        break;
    case GUEST_MASK_INTERRUPTS:
        core.set_interrupt_mask(true);
        break;
    case GUEST_UNMASK_INTERRUPTS:
        core.set_interrupt_mask(false);
        break;
    case GUEST_UNDEFINED:
        core.inject_undefined(core.resume_address(__builtin_return_address(0)));
        break;
    }
}

void guest_invalidate_line(std::uint64_t) {}

void guest_map_past_caches(std::uint64_t address, std::uint64_t bytes)
{
    current().running().map_guest_past_caches(address, {bytes});
}

void guest_hvc(std::uint64_t x[GUEST_CALL_REGISTERS])
{
    cpu &core = current().running();
    for (unsigned n = 0; n < GUEST_CALL_REGISTERS; ++n) {
        core.exchange()[n] = x[n];
    }
    core.leave({.syndrome = of_class(EC_HVC64), .resume = core.resume_address(__builtin_return_address(0))});
    for (unsigned n = 0; n < GUEST_CALL_REGISTERS; ++n) {
        x[n] = core.exchange()[n];
    }
    core.take_interrupts();
}

void guest_smc(std::uint64_t x[4])
{
    cpu &core = current().running();
    for (unsigned n = 0; n < 4; ++n) {
        core.exchange()[n] = x[n];
    }
    core.leave({.syndrome = of_class(EC_SMC64), .resume = core.resume_address(__builtin_return_address(0))});
    for (unsigned n = 0; n < 4; ++n) {
        x[n] = core.exchange()[n];
    }
    core.take_interrupts();
}

std::uint64_t guest_memory_base(void)
{
    const hosted::guest_space &space = *current().running().space();
    return reinterpret_cast<std::uint64_t>(space.host(space.own_first())) - space.own_first();
}

std::uint64_t guest_memory_at(std::uint64_t ipa)
{
    return reinterpret_cast<std::uint64_t>(current().running().space()->host(ipa));
}
