// SPDX-License-Identifier: Apache-2.0
// The invariants, one function each. They read EL2's state and the fake hardware; they change only the
// executing core, and restore it.
#include "vgic_invariants.h"

#include <array>
#include <cstdint>
#include <cstring>

extern "C" {
#include "arch/hosted/fake_gic_common.h"
#include "arch/hosted/fake_registers.h"
#include "vgic/vgic.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
}

namespace bulkhead_test {

namespace {

constexpr uint32_t first_guest_private = 27; // below are EL2's own: requests, maintenance, its timer
constexpr uint32_t slot_held = 1u << 9;      // VGIC_SLOT_HELD of vgic_internal.h
constexpr uint32_t none = 32 * VGIC_BANKS;   // no interrupt has this number in the banks

// The INTID of an interrupt by its number in the banks: LPIs follow SPIs there.
uint32_t guest_intid(uint32_t number)
{
    return number < VGIC_FIRST_LPI ? number : number - VGIC_FIRST_LPI + BH_FIRST_LPI;
}

uint32_t lowest(uint32_t bits)
{
    return static_cast<uint32_t>(__builtin_ctz(bits));
}

std::string about(const char *what, const domain &domain, uint32_t intid)
{
    return std::string(what) + ": interrupt " + std::to_string(intid) + " of domain " +
           std::to_string(domain.index);
}

struct Residents {
    std::array<uint32_t, VGIC_BANKS - 1> spis{};
    std::array<uint8_t, VGIC_SHARED_COUNT> holder{};
};

std::string check_slots(const domain &domain, const vcpu &vcpu, Residents &residents)
{
    const vgic_vcpu &vgic = vcpu.vgic;
    uint32_t own = 0;

    if ((vgic.slots_used & ~vgic.slots_mask) != 0) {
        return about("list registers that do not exist", domain, vgic.slots_used);
    }
    fake_switch_core(vcpu.cpu->index);
    for (uint32_t n = 0; n < VGIC_LR_MAX; n++) {
        const fake_lr lr = fake_gic_lr(n);
        const bool used = lr.pending || lr.active;
        const uint32_t intid = vgic.slots[n].intid;

        if ((vgic.slots_used >> n & 1) == 0) {
            if (used) {
                return about("a list register that nobody wrote", domain, lr.intid);
            }
            continue;
        }
        if (!vgic.online) {
            return about("resident at a VCPU that is off", domain, intid);
        }
        if (used && lr.intid != guest_intid(intid)) {
            return about("the list register holds another one", domain, intid);
        }
        if (lr.hw && lr.physical != intid) {
            return about("the list register deactivates another one", domain, intid);
        }
        uint32_t &seen = intid < 32 ? own : residents.spis[intid / 32 - 1];
        const uint32_t bit = 1u << intid % 32;
        if ((seen & bit) != 0) {
            return about("in two list registers", domain, intid);
        }
        seen |= bit;
        if (intid >= 32) {
            residents.holder[intid - 32] = static_cast<uint8_t>(vcpu.index);
        }
    }
    return own == vgic.bank.resident ? "" : about("private residents", domain, own ^ vgic.bank.resident);
}

std::string check_residence(const domain &domain)
{
    Residents residents;

    for (uint32_t i = 0; i < domain.vcpu_count; i++) {
        std::string broken = check_slots(domain, domain.vcpus[i], residents);
        if (!broken.empty()) {
            return broken;
        }
    }
    for (uint32_t bank = 0; bank < VGIC_BANKS - 1; bank++) {
        if (residents.spis[bank] != domain.vgic.spis[bank].resident) {
            return about("resident without, or with an unknown, list register", domain, (bank + 1) * 32);
        }
        for (uint32_t bits = residents.spis[bank]; bits != 0; bits &= bits - 1) {
            const uint32_t spi = bank * 32 + lowest(bits);
            if (domain.vgic.owner[spi] != residents.holder[spi]) {
                return about("owned by another VCPU than holds it", domain, spi + 32);
            }
        }
    }
    return "";
}

bool has_request(const vcpu &vcpu, uint32_t request)
{
    return (vcpu.cpu->requests & request) != 0;
}

// The checks of 32 bytes handle eight of them at once, since they are made after each step.
constexpr uint64_t each_byte = 0x0101'0101'0101'0101;

uint64_t eight_bytes(const uint8_t *bytes)
{
    uint64_t word;

    std::memcpy(&word, bytes, sizeof word);
    return word;
}

// Bytes that are 0 or 1 as bits, the first one lowest.
uint32_t as_bits(uint64_t bytes)
{
    return static_cast<uint32_t>(bytes * 0x0102'0408'1020'4080 >> 56);
}

// A mask of those of 32 bytes that have the value.
uint32_t those_equal(const uint8_t *bytes, uint64_t value)
{
    constexpr uint64_t low_bits = 0x7F * each_byte;
    uint32_t bits = 0;

    for (uint32_t i = 0; i < 32; i += 8) {
        const uint64_t different = eight_bytes(bytes + i) ^ value * each_byte;
        const uint64_t equal = ~(((different & low_bits) + low_bits) | different | low_bits); // bit 7
        bits |= as_bits(equal >> 7) << i;
    }
    return bits;
}

// A mask of those of 32 bytes that have the bit set.
uint32_t those_with_bit(const uint8_t *bytes, uint32_t bit)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < 32; i += 8) {
        bits |= as_bits(eight_bytes(bytes + i) >> bit & each_byte) << i;
    }
    return bits;
}

// State that is kept twice, per interrupt and per word of 32, agrees.
std::string check_maps(const domain &domain)
{
    for (uint32_t i = 0; i < domain.vcpu_count; i++) {
        const vgic_vcpu &vgic = domain.vcpus[i].vgic;

        for (uint32_t bank = 0; bank < VGIC_BANKS - 1; bank++) {
            const uint32_t different = (vgic.routed[bank] ^ those_equal(&domain.vgic.target[bank * 32], i)) |
                                       (vgic.owned[bank] ^ those_equal(&domain.vgic.owner[bank * 32], i));
            if (different != 0) {
                return about("routed or owned in two ways", domain, (bank + 1) * 32 + lowest(different));
            }
        }
    }
    return "";
}

std::string check_priorities(const domain &domain, const vgic_bank &bank, uint32_t first)
{
    uint32_t different = 0;

    for (uint32_t bit = 0; bit < 8; bit++) { // the lowest are not implemented
        const bool kept = bit >= 8 - VGIC_PRIORITY_BITS;
        const uint32_t plane = kept ? bank.priority_plane[7 - bit] : 0;
        different |= plane ^ those_with_bit(bank.priority, bit);
    }
    return different == 0 ? "" : about("two priorities", domain, first + lowest(different));
}

std::string check_bank(const domain &domain, const vgic_bank &bank, uint32_t first)
{
    if (std::string broken = check_priorities(domain, bank, first); !broken.empty()) {
        return broken;
    }
    if ((bank.held & ~bank.hw) != 0) {
        return about("held, but not passed through", domain, first + lowest(bank.held & ~bank.hw));
    }
    if (first >= VGIC_FIRST_LPI && (bank.active | bank.line | bank.hw | ~bank.group1) != 0) {
        return about("a message interrupt with state that only others have", domain, first);
    }
    if (((bank.drop_pending | bank.drop_active) & ~bank.resident) != 0) {
        return about("to be dropped from no list register", domain, first);
    }
    /* Beside its list register only until its core checks again. */
    for (uint32_t twice = (bank.active | bank.held) & bank.resident; twice != 0; twice &= twice - 1) {
        const uint32_t intid = first + lowest(twice);
        const vcpu *holder = nullptr;
        for (uint32_t i = 0; i < domain.vcpu_count; i++) {
            if (first == 0 ? &domain.vcpus[i].vgic.bank == &bank : domain.vgic.owner[intid - 32] == i) {
                holder = &domain.vcpus[i];
            }
        }
        if (holder == nullptr || !holder->vgic.stale || !has_request(*holder, CPU_REQUEST_VGIC)) {
            return about("active or held beside its list register", domain, intid);
        }
    }
    return "";
}

// GICv2: each software-generated interrupt is pending once for each sender, and its senders are recorded.
std::string check_senders(const domain &domain, const vcpu &vcpu)
{
    if (system_manifest()->platform.gic_version != BH_GIC_VERSION_GICV2) {
        return "";
    }
    for (uint32_t sgi = 0; sgi < 16; sgi++) {
        const uint32_t senders = vcpu.vgic.sgis.senders[sgi];

        if ((senders != 0) != ((vcpu.vgic.bank.pending >> sgi & 1) != 0)) {
            return about("pending without a sender, or the other way round", domain, sgi);
        }
        if (senders >> domain.vcpu_count != 0) {
            return about("sent by a VCPU that does not exist", domain, sgi);
        }
    }
    fake_switch_core(vcpu.cpu->index);
    for (uint32_t used = vcpu.vgic.slots_used; used != 0; used &= used - 1) {
        const uint32_t n = lowest(used);
        const fake_lr lr = fake_gic_lr(n);
        const vgic_slot slot = vcpu.vgic.slots[n];

        if (slot.intid < 16 && (lr.pending || lr.active) && lr.sender != VGIC_LR_SENDER(slot.flags)) {
            return about("the list register has another sender", domain, slot.intid);
        }
        // A disabled interrupt is not due to any VCPU, and enabling it checks the list registers again.
        const bool due = slot.intid < 16 && vcpu.vgic.sgis.senders[slot.intid] != 0 &&
                         (vcpu.vgic.bank.enabled >> slot.intid & 1) != 0;
        if (due && lr.hw == lr.eoi &&
            !has_request(vcpu,
                         CPU_REQUEST_VGIC | CPU_REQUEST_SGI)) { // otherwise its core is about to check again
            return about("more senders wait, and its end is not heard of", domain, slot.intid);
        }
    }
    return "";
}

bool slot_holds(const vcpu &vcpu, uint32_t intid)
{
    for (uint32_t used = vcpu.vgic.slots_used; used != 0; used &= used - 1) {
        const vgic_slot &slot = vcpu.vgic.slots[lowest(used)];
        if (slot.intid == intid && (slot.flags & slot_held) != 0) {
            return true;
        }
    }
    return false;
}

// Active shared interrupts of the physical controller, compared with those that are held.
std::string check_physical_spis(const domain &domain)
{
    const bool running = domain.state == BH_DOMAIN_STATE_RUNNING;

    for (uint32_t bank = 0; bank < VGIC_BANKS - 1; bank++) {
        const vgic_bank &state = domain.vgic.spis[bank];
        for (uint32_t bits = state.hw; bits != 0; bits &= bits - 1) {
            const uint32_t n = lowest(bits);
            const uint32_t intid = (bank + 1) * 32 + n;
            const uint32_t bit = 1u << n;
            bool in_slot = false;
            for (uint32_t i = 0; i < domain.vcpu_count; i++) {
                in_slot = in_slot || slot_holds(domain.vcpus[i], intid);
            }
            const bool active = fake_gic_is_active(intid);
            if (active && (state.held & bit) == 0 && !in_slot) {
                return about("active, and nobody will deactivate it", domain, intid);
            }
            if (!active && (state.held & bit) != 0) {
                return about("held, but not active", domain, intid);
            }
            if (fake_gic_is_enabled(intid) && !(running && (state.enabled & bit) != 0)) {
                return about("enabled physically alone", domain, intid);
            }
        }
    }
    return "";
}

std::string check_physical_private(const domain &domain, const vcpu &vcpu)
{
    const vgic_bank &state = vcpu.vgic.bank;

    fake_switch_core(vcpu.cpu->index);
    for (uint32_t intid = first_guest_private; intid < 32; intid++) {
        const uint32_t bit = 1u << intid;
        const bool active = fake_gic_is_active(intid);
        if (active && (state.held & bit) == 0 && !slot_holds(vcpu, intid)) {
            return about("active, and nobody will deactivate it", domain, intid);
        }
        if (!active && (state.held & bit) != 0) {
            return about("held, but not active", domain, intid);
        }
        if (fake_gic_is_enabled(intid) != ((vcpu.vgic.mirrored & bit) != 0)) {
            return about("the physical enable is not what was mirrored", domain, intid);
        }
    }
    return "";
}

// A pending, forwarded interrupt of the bank for this VCPU that is not in a list register; or none.
uint32_t waiting(const vcpu &vcpu, const vgic_bank &bank, uint32_t first)
{
    const vgic_domain &vgic = vcpu.domain->vgic;
    const uint32_t groups =
        ((vgic.control & 2) != 0 ? bank.group1 : 0) | ((vgic.control & 1) != 0 ? ~bank.group1 : 0);
    uint32_t bits = (bank.pending | (bank.line & ~bank.edge)) & bank.enabled & groups;

    for (bits &= ~(bank.resident | bank.active); bits != 0; bits &= bits - 1) {
        const uint32_t intid = first + lowest(bits);
        if (intid < 32 || vgic.target[intid - 32] == vcpu.index) {
            return intid;
        }
    }
    return none;
}

std::string check_waiting(const domain &domain, const vcpu &vcpu)
{
    const vgic_vcpu &vgic = vcpu.vgic;
    uint32_t intid = waiting(vcpu, vgic.bank, 0);

    for (uint32_t bank = 0; intid == none && bank < VGIC_BANKS - 1; bank++) {
        intid = waiting(vcpu, domain.vgic.spis[bank], (bank + 1) * 32);
    }
    const uint32_t request = CPU_REQUEST_VGIC | (intid < 16 ? CPU_REQUEST_SGI : 0);
    if (intid == none || !vgic.online || vgic.stale || has_request(vcpu, request)) {
        return "";
    }
    if (vgic.events == 0) {
        return about("waits, and nothing will make EL2 look at it", domain, intid);
    }
    fake_switch_core(vcpu.cpu->index);
    for (uint32_t used = vgic.slots_used; used != 0; used &= used - 1) {
        const fake_lr lr = fake_gic_lr(lowest(used));
        if (lr.pending && !lr.active) {
            return "";
        }
    }
    return fake_gic_maintenance() != 0 ? "" : about("waits behind active ones", domain, intid);
}

std::string check_domain(const domain &domain)
{
    if (domain.vgic.lock.next != domain.vgic.lock.owner ||
        domain.vuart.lock.next != domain.vuart.lock.owner) {
        return about("a lock is held", domain, 0);
    }
    std::string broken = check_residence(domain);
    if (broken.empty()) {
        broken = check_maps(domain);
    }
    for (uint32_t bank = 0; broken.empty() && bank < VGIC_BANKS - 1; bank++) {
        broken = check_bank(domain, domain.vgic.spis[bank], (bank + 1) * 32);
    }
    for (uint32_t i = 0; broken.empty() && i < domain.vcpu_count; i++) {
        broken = check_bank(domain, domain.vcpus[i].vgic.bank, 0);
        if (broken.empty()) {
            broken = check_physical_private(domain, domain.vcpus[i]);
        }
        if (broken.empty()) {
            broken = check_senders(domain, domain.vcpus[i]);
        }
        if (broken.empty()) {
            broken = check_waiting(domain, domain.vcpus[i]);
        }
    }
    return broken.empty() ? check_physical_spis(domain) : broken;
}

} // namespace

std::string broken_vgic_invariant(std::span<struct domain *const> domains, unsigned cores)
{
    const uint32_t here = fake_current_core();
    std::string broken;

    for (uint32_t core = 0; core < cores; core++) { // counts misused list registers
        fake_switch_core(core);
        (void)fake_gic_guest_has_interrupt();
    }
    for (size_t i = 0; broken.empty() && i < domains.size(); i++) {
        broken = check_domain(*domains[i]);
    }
    fake_switch_core(here);
    if (broken.empty() && fake_gic_violations() != 0) {
        broken = "the physical interrupt controller or a list register was misused";
    }
    if (broken.empty() && fake_faults() != 0) {
        broken = "access to a device register that is not there";
    }
    return broken;
}

} // namespace bulkhead_test
