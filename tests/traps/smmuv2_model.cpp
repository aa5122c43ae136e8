// SPDX-License-Identifier: Apache-2.0
// The model of an SMMUv2; see the header.
#include "smmuv2_model.h"

#include <stdatomic.h>

extern "C" {
#include "arch/hosted/fake_clock.h"
#include "arch/hosted/fake_gic.h"
#include "arch/hosted/fake_registers.h"
#include "memory/pool.h"
#include "vm/system.h"
}

namespace bulkhead_test {

namespace {

constexpr uint64_t page_bytes = 0x1000;
constexpr uint64_t half = 16; // pages of global space, and of context banks
constexpr uint64_t address_bits = 0xFFFFFFFFF000;
constexpr uint64_t read_ticks = 62;    // 1 us for each read of a register
constexpr uint64_t hung_ticks = 62500; // 1 ms if the SMMU does not answer
constexpr uint32_t multi = 1u << 31;
// SCR0
constexpr uint32_t clientpd = 1, gfre = 2, gfie = 4, gse = 1u << 9, usfcfg = 1u << 10, smcfcfg = 1u << 21;
// sGFSR
constexpr uint32_t icf = 1, usf = 2, smcf = 4, ucbf = 8;
// FSR
constexpr uint32_t translation = 2, access_flag = 4, permission = 8, address_size = 0x80;
constexpr uint32_t fsr_causes = 0x1FE, fsr_format = 3u << 9, sgfsr_causes = 0x1FF;
constexpr uint32_t aarch64 = 2u << 9; // FORMAT
// SCTLR
constexpr uint32_t enabled = 1, returns_error = 1u << 5, interrupts = 1u << 6, stalls = 1u << 7,
                   hit_under_fault = 1u << 8;
// sACR and ACTLR of the SMMU-500
constexpr uint32_t unmatched_bypass_cached = 1u << 8, bypass_cached = 1u << 10, cache_lock = 1u << 26;

Smmuv2Model *plugged;

bool read_register(uint64_t offset, unsigned bytes, uint64_t *value)
{
    if (bytes != 4) {
        plugged->violations.push_back("a register of another size is read");
    }
    *value = plugged->read(offset);
    return true;
}

bool write_register(uint64_t offset, unsigned bytes, uint64_t value)
{
    plugged->write(offset, value, bytes);
    return true;
}

uint32_t *half_of(uint64_t &value, bool high)
{
    return reinterpret_cast<uint32_t *>(&value) + (high ? 1 : 0); // little-endian, as the host
}

} // namespace

uint64_t *Smmuv2Model::words_at(uint64_t pa) const
{
    return static_cast<uint64_t *>(pool_pointer(system_pool(), paddr(pa)));
}

void Smmuv2Model::plug_in(uint64_t pa, uint32_t irq)
{
    plugged = this;
    interrupt = irq;
    fake_map(pa, 2 * half * page_bytes, read_register, write_register);
}

uint32_t *Smmuv2Model::global_register(uint64_t offset)
{
    const uint64_t entries = idr0 & 0xFF;

    if (offset >= 0x800 && offset < 0x800 + 4 * entries) {
        return &smr[(offset - 0x800) / 4];
    }
    if (offset >= 0xC00 && offset < 0xC00 + 4 * entries) {
        return &s2cr[(offset - 0xC00) / 4];
    }
    if (offset >= page_bytes && offset < 2 * page_bytes) { // register space 1
        const uint64_t at = offset - page_bytes;
        Bank &bank = banks[at % 0x400 / 4 % most_banks];
        if (at % 0x400 / 4 < (idr1 & 0xFF)) {
            return at < 0x400   ? &bank.cbar
                   : at < 0x800 ? &bank.cbfrsynra
                   : at < 0xC00 ? &bank.cba2r
                                : nullptr;
        }
    }
    switch (offset) {
    case 0x00:
        return &scr0;
    case 0x08:
        return &scr2;
    case 0x10:
        return &sacr;
    case 0x20:
        return &idr0;
    case 0x24:
        return &idr1;
    case 0x28:
        return &idr2;
    case 0x40:
    case 0x44:
        return half_of(sgfar, offset == 0x44);
    case 0x48:
        return &sgfsr;
    case 0x50:
        return &sgfsynr0;
    case 0x54:
        return &sgfsynr1;
    default:
        return nullptr;
    }
}

uint32_t *Smmuv2Model::bank_register(uint64_t offset)
{
    const uint64_t index = offset / page_bytes - half;

    if (index >= (idr1 & 0xFF)) {
        return nullptr;
    }
    Bank &bank = banks[index];
    switch (offset % page_bytes) {
    case 0x00:
        return &bank.sctlr;
    case 0x04:
        return &bank.actlr;
    case 0x20:
    case 0x24:
        return half_of(bank.ttbr0, offset % 8 == 4);
    case 0x30:
        return &bank.tcr;
    case 0x58:
        return &bank.fsr;
    case 0x60:
    case 0x64:
        return half_of(bank.far, offset % 8 == 4);
    case 0x68:
        return &bank.fsynr0;
    default:
        return nullptr;
    }
}

uint64_t Smmuv2Model::read(uint64_t offset)
{
    reads++;
    fake_clock_set(fake_sysreg(SYSREG_ID_CNTPCT_EL0) + (answers ? read_ticks : hung_ticks));
    if (offset == 0x74) { // STLBGSTATUS
        return active ? 1 : 0;
    }
    const uint32_t *place = offset < half * page_bytes ? global_register(offset) : bank_register(offset);
    if (place == nullptr) {
        violations.push_back("read of register " + std::to_string(offset));
        return 0;
    }
    const uint64_t value = *place; // the register may change in the hook
    if (on_read) {
        on_read(offset);
    }
    return value;
}

// What a bank says may change only while no stream is translated by it.
void Smmuv2Model::check_unused(uint32_t bank, const char *what)
{
    for (uint32_t i = 0; i < (idr0 & 0xFF); i++) {
        if ((scr0 & clientpd) == 0 && smr[i] >> 31 != 0 && (s2cr[i] >> 16 & 3) == 0 &&
            (s2cr[i] & 0xFF) == bank) {
            violations.push_back(std::string(what) + " changes while streams use it");
        }
    }
}

void Smmuv2Model::write(uint64_t offset, uint64_t value, unsigned bytes)
{
    const auto word = static_cast<uint32_t>(value);

    if (bytes != 4) {
        violations.push_back("a register of another size is written");
    }
    if (offset == 0x64) { // TLBIVMID
        if (const auto hook = std::exchange(on_invalidate, nullptr)) {
            hook();
        }
        accepted.push_back({false, word & 0xFFFF});
        invalidated.push_back(word & 0xFFFF);
    } else if (offset == 0x68 || offset == 0x6C) { // TLBIALLNSNH, TLBIALLH
        accepted.push_back({true, 0});
    } else if (offset == 0x70) { // STLBGSYNC
        if (active) {
            violations.push_back("a synchronization begins while one is under way");
        }
        active = true;
        synchronized_ = std::exchange(accepted, {});
        if (answers && !delays) {
            complete();
        }
    } else if (offset == 0x48) {
        sgfsr &= ~word; // a 1 clears
    } else if (offset == 0x10) {
        sacr = locked_above ? word | cache_lock : word;
    } else if (uint32_t *place = offset < half * page_bytes ? global_register(offset) : bank_register(offset);
               place != nullptr && (offset < 0x20 || offset >= 0x800)) {
        const uint64_t in_page = offset % page_bytes;
        if (offset >= half * page_bytes) {
            const auto bank = static_cast<uint32_t>(offset / page_bytes - half);
            if (in_page == 0x58) {
                *place &= ~word | fsr_format; // the format of the tables stays
            } else if (in_page == 0x04) {
                *place = (sacr & cache_lock) != 0 ? *place : word;
            } else {
                check_unused(bank, "a context bank");
                *place = word;
            }
        } else {
            if (offset >= page_bytes) {
                check_unused(static_cast<uint32_t>(in_page % 0x400 / 4), "a context bank's kind");
            }
            *place = word;
        }
    } else {
        violations.push_back("write of register " + std::to_string(offset));
    }
    update_interrupt();
    if (on_write) {
        on_write();
    }
}

void Smmuv2Model::complete()
{
    if (!active) {
        return;
    }
    for (const auto &one : synchronized_) {
        std::erase_if(translations, [&](const auto &t) { return one.all || t.first.first == one.vmid; });
        if (one.all) {
            bypasses.clear();
        }
    }
    synchronized_.clear();
    active = false;
    synchronizations++;
}

void Smmuv2Model::update_interrupt()
{
    bool level = (sgfsr & sgfsr_causes) != 0 && (scr0 & gfie) != 0;

    for (const auto &bank : banks) {
        level = level || ((bank.fsr & fsr_causes) != 0 && (bank.sctlr & interrupts) != 0);
    }
    fake_gic_set_line(interrupt, level);
}

void Smmuv2Model::raise_error(uint32_t faults, uint32_t stream)
{
    (void)global_fault(faults, stream, 0, true);
}

std::optional<uint64_t> Smmuv2Model::global_fault(uint32_t fault, uint32_t stream, uint64_t address,
                                                  bool write)
{
    if ((scr0 & gse) != 0 || (scr0 & gfre) == 0) {
        violations.push_back("a global fault stalls, or does not abort");
    }
    if (sgfsr == 0) {
        sgfsr = fault;
        sgfar = address;
        sgfsynr0 = write ? 2 : 0;
        sgfsynr1 = stream;
        recorded[stream]++;
    } else {
        sgfsr |= multi;
        uncounted[stream]++;
    }
    update_interrupt();
    return std::nullopt;
}

std::optional<uint64_t> Smmuv2Model::context_fault(Bank &bank, uint32_t fault, uint32_t stream,
                                                   uint64_t address, bool write)
{
    if ((bank.sctlr & stalls) != 0 || (bank.sctlr & returns_error) == 0) {
        violations.push_back("a context fault stalls, or does not abort");
    }
    if ((bank.fsr & ~fsr_format) == 0) {
        bank.fsr = fault | aarch64;
        bank.far = address;
        bank.fsynr0 = write ? 0x10 : 0;
        bank.cbfrsynra = stream;
        recorded[stream]++;
    } else {
        bank.fsr |= multi;
        uncounted[stream]++;
    }
    update_interrupt();
    return std::nullopt;
}

// Three levels, as the tables of the CPUs: blocks at levels 1 and 2, pages at level 3.
std::optional<uint64_t> Smmuv2Model::walk(const Bank &bank, uint64_t address, bool write, uint32_t &fault)
{
    static constexpr unsigned sizes[] = {32, 36, 40, 42, 44, 48, 48, 48};
    const unsigned bits = 64 - (bank.tcr & 0x3F);
    const unsigned output = std::min(sizes[bank.tcr >> 16 & 7], sizes[idr2 >> 4 & 7]);
    uint64_t table = bank.ttbr0 & 0xFFFFFFFFFFFF;

    if ((bank.cbar >> 16 & 3) != 0 || (bank.cba2r & 1) == 0 || (bank.tcr >> 6 & 3) != 1 ||
        (bank.tcr >> 14 & 3) != 0 || bits < 31 || bits > 39 || sizes[bank.tcr >> 16 & 7] > output) {
        violations.push_back("a context bank that is not stage 2 with AArch64 tables of three levels");
        return std::nullopt;
    }
    fault = translation;
    if (address >> bits != 0) {
        return std::nullopt;
    }
    for (unsigned shift = 30;; shift -= 9) {
        const uint64_t descriptor = words_at(table)[address >> shift & 0x1FF];
        if ((descriptor & 1) == 0) {
            return std::nullopt;
        }
        if (((descriptor & address_bits) >> output) != 0) {
            fault = address_size;
            return std::nullopt;
        }
        if (shift == 12 || (descriptor & 2) == 0) {
            fault = (descriptor >> 10 & 1) == 0 ? access_flag : permission;
            if (fault == access_flag || (descriptor >> 6 & (write ? 2 : 1)) == 0) {
                return std::nullopt;
            }
            const uint64_t inside = (uint64_t{1} << shift) - 1;
            return ((descriptor & address_bits) & ~inside) | (address & inside);
        }
        table = descriptor & address_bits;
    }
}

std::optional<uint64_t> Smmuv2Model::access(uint32_t stream, uint64_t address, bool write)
{
    uint32_t matches = 0, entry = 0;

    if ((scr0 & clientpd) != 0 || bypasses.contains(stream)) {
        return address;
    }
    for (uint32_t i = 0; i < (idr0 & 0xFF); i++) {
        if (smr[i] >> 31 != 0 && ((smr[i] ^ stream) & ~(smr[i] >> 16) & 0x7FFF) == 0) {
            matches++;
            entry = s2cr[i];
        }
    }
    if (matches == 0 && (scr0 & usfcfg) == 0) {
        if ((sacr & unmatched_bypass_cached) != 0) {
            bypasses.insert(stream);
        }
        return address;
    }
    if (matches != 1) {
        if (matches > 1 && (scr0 & smcfcfg) == 0) {
            violations.push_back("which of two entries a stream has is not known");
        }
        return global_fault(matches == 0 ? usf : smcf, stream, address, write);
    }
    const uint32_t type = entry >> 16 & 3, index = entry & 0xFF;
    if (type == 1) {
        if ((sacr & bypass_cached) != 0) {
            bypasses.insert(stream);
        }
        return address;
    }
    if (type != 0 || index >= (idr1 & 0xFF)) {
        return global_fault(type != 0 ? icf : ucbf, stream, address, write);
    }
    Bank &bank = banks[index];
    if ((bank.sctlr & enabled) == 0) {
        return address;
    }
    if ((bank.fsr & fsr_causes) != 0 && (bank.sctlr & hit_under_fault) == 0) {
        return std::nullopt;
    }
    const std::pair key{bank.cbar & 0xFF, address >> 12 << 1 | (write ? 1 : 0)};
    const auto cached = translations.find(key);
    if (cached != translations.end()) {
        return cached->second | (address & 0xFFF);
    }
    uint32_t fault = 0;
    const auto found = walk(bank, address, write, fault);
    if (!found) {
        return context_fault(bank, fault, stream, address, write);
    }
    translations[key] = *found & ~uint64_t{0xFFF};
    return found;
}

} // namespace bulkhead_test
