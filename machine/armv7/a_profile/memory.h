// SPDX-License-Identifier: Apache-2.0
// Memory as instructions of an Armv7-A core access it: an access is checked for alignment, translated,
// checked for permissions, and made: cached, uncached or at a device. It keeps the pages that the data
// micro-TLB has, so that hits are cheap on the host. Faults are recorded in CP15 with their status.
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

    // Sets the interpreter that is told of stores to memory.
    void attach(interpreter &by) { by_ = &by; }

    // See machine/armv7/profile.h. After a fault, was_data() tells whether it was a data access.
    [[nodiscard]] std::optional<std::uint32_t> read(const access_request &what);
    [[nodiscard]] bool write(const access_request &what, std::uint32_t value);
    [[nodiscard]] std::optional<code_span> fetch(std::uint32_t address);
    [[nodiscard]] bool was_data() const { return was_data_; }

    // Drops the kept pages: permissions or a register that translation depends on have changed.
    void forget_pages();

private:
    static constexpr std::uint32_t page_bits = 12;
    static constexpr std::uint32_t page_mask = (1U << page_bits) - 1;
    static constexpr std::uint32_t slots = 64;
    static constexpr std::uint32_t no_page = ~std::uint32_t{0};

    // A page of Normal cached memory whose translation is in the data micro-TLB.
    struct page {
        std::uint32_t number = no_page; // virtual page number
        std::uint8_t rights = 0;        // bits of short_descriptors::attributes, after the check of DACR
        std::uint8_t *content = nullptr;
        std::uint64_t physical = 0;
    };
    // Result of translation for a permitted access.
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
    std::vector<std::uint64_t> slots_of_; // by entry of the micro-TLB: a bit for each slot that depends on it
};

} // namespace bulkhead::machine::armv7::a_profile
