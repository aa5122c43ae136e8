// SPDX-License-Identifier: Apache-2.0
// Memory as instructions of an Armv7-A core see it: an access is checked for alignment, translated, checked
// for its rights, and made, in the caches or past them, or at a device. It remembers pages that the data
// micro-TLB has, so that a hit there costs the host little. Faults are recorded in CP15 by their status.
#pragma once

#include <array>
#include <optional>

#include "machine/armv7/a_profile/modes.h"
#include "machine/armv7/a_profile/system_control.h"
#include "machine/armv7/physical_bus.h"

namespace bulkhead::machine::armv7 {
class interpreter;
}

namespace bulkhead::machine::armv7::a_profile {

class memory {
public:
    struct surroundings {
        core &on;
        mmu &translation;
        system_control &control;
        const modes &state;
        const physical_bus &bus;
    };
    explicit memory(const surroundings &around);
    memory(const memory &) = delete;
    memory &operator=(const memory &) = delete;

    // Who is told of stores to memory.
    void attach(interpreter &by) { by_ = &by; }

    // As machine/armv7/profile.h has them. After a fault, was_data() says of which kind it was.
    [[nodiscard]] std::optional<std::uint32_t> read(const access_request &what);
    [[nodiscard]] bool write(const access_request &what, std::uint32_t value);
    [[nodiscard]] std::optional<code_span> fetch(std::uint32_t address);
    [[nodiscard]] bool was_data() const { return was_data_; }

    // What is remembered of pages may be wrong: rights, a register that translation depends on.
    void forget_pages();

private:
    static constexpr std::uint32_t page_bits = 12;
    static constexpr std::uint32_t page_mask = (1U << page_bits) - 1;
    static constexpr std::uint32_t slots = 64;
    static constexpr std::uint32_t no_page = ~std::uint32_t{0};

    // A page of Normal cached memory that the data micro-TLB has.
    struct page {
        std::uint32_t number = no_page; // virtual
        std::uint8_t rights = 0;        // bits of short_descriptors::attributes, with DACR
        std::uint8_t *content = nullptr;
        std::uint64_t physical = 0;
    };
    // What an address is, for an access that may be made.
    struct place {
        phys_addr where;
        bool cached;
        bool ordered; // Strongly-ordered or Device
    };

    [[nodiscard]] page *known(const access_request &what, std::uint8_t privileged, std::uint8_t user);
    [[nodiscard]] bool is_aligned(const access_request &what);
    [[nodiscard]] std::optional<place> translate(const access_request &what, std::uint32_t address,
                                                 bool write);
    void remember(std::uint32_t address, const page_translation &found);
    [[nodiscard]] std::optional<std::uint32_t> read_slowly(const access_request &what);
    [[nodiscard]] bool write_slowly(const access_request &what, std::uint32_t value);
    [[nodiscard]] std::optional<std::uint32_t> load(const place &from, const access_request &what,
                                                    std::uint32_t bytes);
    [[nodiscard]] bool store(const place &to, const access_request &what, std::uint32_t bytes,
                             std::uint32_t value);
    void fault(std::uint32_t status, std::uint32_t address, bool write);
    void dropped(std::uint32_t entry);

    surroundings around_;
    interpreter *by_ = nullptr;
    bool was_data_ = false;
    std::array<page, slots> pages_{};
    std::vector<std::uint64_t> slots_of_; // by entry of the micro-TLB: a bit for each slot that rests on it
};

} // namespace bulkhead::machine::armv7::a_profile
