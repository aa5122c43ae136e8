// SPDX-License-Identifier: Apache-2.0
// A program's address space on the MMU of the core that it runs on, for front ends that give addresses one by
// one (generators, recorded programs). The last translation is kept here, so that accesses to the same page
// or block cost no simulation work. This does not change the timing, since that translation is in the
// first-level TLB then.
#pragma once

#include <memory>
#include <optional>

#include "machine/address_space.h"
#include "machine/mmu.h"

namespace bulkhead::machine {

class translated {
public:
    // Refuses what mmu::make() refuses. `on` must outlive it.
    static result<std::unique_ptr<translated>> make(address_space space, core &on)
    {
        std::unique_ptr<translated> made(new translated(std::move(space)));
        auto unit = mmu::make(on.settings().mmu, on,
                              [own = made.get()](phys_addr where) { return own->space_.read(where); });
        if (auto *refused = std::get_if<refusal>(&unit)) {
            return refusal{"mmu: " + refused->reason};
        }
        made->unit_.emplace(std::get<mmu>(std::move(unit)));
        return made;
    }

    // Physical address of what the tables do not map. Not an optional: that would be passed through memory on
    // each access.
    static constexpr phys_addr nowhere{~std::uint64_t{0}};

    // Physical address of an access. Returns when the core has the translation.
    [[nodiscard]] phys_addr of(std::uint64_t address, access_kind kind)
    {
        if (address - first_ < bytes_) [[likely]] {
            return phys_addr{address + distance_};
        }
        return look_up(address, kind);
    }

    // Invalidates all translations, then looks up the one of the program's instructions again.
    void flush()
    {
        unit_->invalidate_all();
        bytes_ = 0;
        (void)unit_->fetch(space_.regime(), space_.instructions());
    }

    [[nodiscard]] address_space &space() { return space_; }
    [[nodiscard]] mmu &unit() { return *unit_; }

private:
    explicit translated(address_space space) : space_(std::move(space)) {}

    [[gnu::noinline]] phys_addr look_up(std::uint64_t address, access_kind kind)
    {
        const mmu::answer found = unit_->find(space_.regime(), address, kind);
        const auto *const made = std::get_if<const page_translation *>(&found);
        if (made == nullptr) {
            return nowhere;
        }
        bytes_ = std::uint64_t{1} << (*made)->shift;
        first_ = address & ~(bytes_ - 1);
        distance_ = (*made)->output.value - first_;
        return (*made)->of(address);
    }

    address_space space_;
    std::optional<mmu> unit_;
    // The mapping that was looked up last: first address and size.
    std::uint64_t first_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t distance_ = 0; // from the virtual to the physical address
};

} // namespace bulkhead::machine
