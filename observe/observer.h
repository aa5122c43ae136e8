// SPDX-License-Identifier: Apache-2.0
// The caches of the observed system and their counts. The plugin calls it for every access: each VCPU's
// thread with its own index, without locks up to the LLC, which has one. It knows the emulator only as a
// source of physical addresses.
#pragma once

#include <atomic>
#include <memory>
#include <mutex> // lock_guard
#include <vector>

#include "machine/hierarchy.h"
#include "observe/brief_lock.h"
#include "observe/config.h"
#include "observe/host_memory.h"
#include "observe/windows.h"

namespace bulkhead::observe {

// Accesses that could not be simulated in the caches, per VCPU.
struct unattributed_counts {
    machine::counter device_accesses; // to emulated devices: not cached
    machine::counter uncached;        // to memory that the configuration says is not cached
    machine::counter outside_ram;     // memory that the configuration does not list (flash, boot ROM)
    machine::counter data_unknown;    // the emulator gave no physical address
    machine::counter fetches_unknown; // instructions whose host address is in no RAM
    machine::counter zeroed_blocks;   // DC ZVA executed (these are run through the caches, as writes)
    machine::counter zeroed_unknown;  // of them, those whose physical address could not be found
};

// Everything counted since the start, at one moment.
struct snapshot {
    struct core {
        machine::cache_statistics l1d;
        machine::cache_statistics l1i;
        unattributed_counts unattributed;
    };
    bool started;
    machine::cache_statistics llc;
    std::vector<core> cores;
    std::vector<window> windows;
};

class observer {
public:
    // Refuses replacement policies that their geometry does not allow.
    static machine::result<std::unique_ptr<observer>> make(config from);

    observer(const observer &) = delete;
    observer &operator=(const observer &) = delete;

    // A completed load or store, within one page. `value()` is called only if needed: an optional with the
    // low 64 bits, or nothing if the access was cut at a page's end.
    template <bool is_store, class Value>
    void data(unsigned vcpu, machine::phys_addr address, unsigned bytes, Value &&value)
    {
        core &self = this_core(vcpu);
        constexpr auto kind = is_store ? machine::access_kind::write : machine::access_kind::read;
        run(self, machine::l1_side::data, address, kind);
        const std::uint64_t line = config_.l1d.geometry.line().value;
        if ((address.value & (line - 1)) + bytes > line) [[unlikely]] {
            run(self, machine::l1_side::data, machine::phys_addr{(address.value | (line - 1)) + 1}, kind);
        }
        if constexpr (is_store) {
            ++self.stores;
            const bool may_start =
                (address.value & ~std::uint64_t{7}) == start_word_.load(std::memory_order_relaxed);
            if (is_sampled(self.stores) || may_start) [[unlikely]] {
                examine(address, bytes, value());
            }
        }
    }

    // A block that DC ZVA has zeroed: as many writes as it has lines.
    void zero(unsigned vcpu, machine::phys_addr block, std::uint64_t bytes)
    {
        core &self = this_core(vcpu);
        for (std::uint64_t offset = 0; offset < bytes; offset += config_.l1d.geometry.line().value) {
            run(self, machine::l1_side::data, machine::phys_addr{block.value + offset},
                machine::access_kind::write);
        }
    }

    // Execution has reached this line of instructions.
    void fetch(unsigned vcpu, machine::phys_addr address)
    {
        run(this_core(vcpu), machine::l1_side::instruction, address, machine::access_kind::read);
    }

    [[nodiscard]] bool is_hypervisor(machine::phys_addr address) const
    {
        return config_.owners.owner_of(address) == hypervisor_owner;
    }

    [[nodiscard]] unattributed_counts &unattributed(unsigned vcpu) { return this_core(vcpu).unattributed; }
    [[nodiscard]] host_memory &memory() { return host_memory_; }
    [[nodiscard]] const config &configuration() const { return config_; }
    [[nodiscard]] std::uint64_t instruction_line_bytes() const { return config_.l1i.geometry.line().value; }

    // May be called at any time, from any thread.
    [[nodiscard]] snapshot take();

private:
    struct alignas(128) core {
        explicit core(machine::l1_pair pair) : caches(std::move(pair)) {}
        machine::l1_pair caches;
        unattributed_counts unattributed;
        std::uint64_t stores = 0;
        std::atomic<unsigned> generation{0};
    };

    observer(config from, machine::cache llc, const machine::l1_pair &pair);

    // VCPU threads see the start of the count at their next access; until then their L1 counts belong to the
    // time before it.
    core &this_core(unsigned vcpu)
    {
        core &self = *cores_[vcpu];
        if (self.generation.load(std::memory_order_relaxed) != generation_.load(std::memory_order_acquire))
            [[unlikely]] {
            restart(self);
        }
        return self;
    }

    void run(core &self, machine::l1_side side, machine::phys_addr address, machine::access_kind kind)
    {
        if (config_.uncached.contains(address)) [[unlikely]] {
            self.unattributed.uncached.add();
            return;
        }
        const bool cached = self.caches.access(
            side, address, kind, [this](machine::phys_addr where) { return config_.owners.owner_of(where); },
            [this](const machine::l1_miss &miss) { serve_shared(miss); });
        if (!cached) [[unlikely]] {
            self.unattributed.outside_ram.add();
        }
    }

    // The first stores, and later a sample of them, verify the addresses of instructions.
    static bool is_sampled(std::uint64_t store) { return store <= 64 || (store & 0xFFFFU) == 0; }

    void serve_shared(const machine::l1_miss &miss);
    void examine(machine::phys_addr address, unsigned bytes, std::optional<std::uint64_t> value);
    void restart(core &self);

    config config_;
    host_memory host_memory_;
    std::vector<std::unique_ptr<core>> cores_;
    std::atomic<std::uint64_t>
        start_word_;                   // 8-byte word that the start store falls in; 1 (never) once started
    std::atomic<unsigned> generation_; // 0 before the start, 1 after it
    brief_lock shared_lock_;           // guards what follows
    machine::cache llc_;
    windows windows_;
};

} // namespace bulkhead::observe
