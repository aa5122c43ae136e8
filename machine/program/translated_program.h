// SPDX-License-Identifier: Apache-2.0
// A compiled program's address space on its core's MMU, behind the runtime's callbacks: accesses to pages in
// the first-level TLB take the fast path; all others are looked up or walked for, with their time.
// machine/program/bare.h has one if the program is translated.
#pragma once

#include <memory>

#include "machine/program/execution.h"
#include "machine/program/fast_pages.h"
#include "machine/translated.h"

namespace bulkhead::machine {

class translated_program final : public page_translator {
public:
    // Both must outlive it. Refuses what mmu::make() refuses.
    static result<std::unique_ptr<translated_program>> make(address_space tables, const window &space,
                                                            core &on);

    // The execution uses this translation from now on.
    void enter(execution &what) { what.see(space_, *this, fast_.view()); }

    bool translate(std::uint64_t address, std::uint64_t ipa, access_kind kind, std::uint64_t code) override;
    std::optional<phys_addr> translate_code(std::uint64_t ipa) override;

private:
    translated_program(std::unique_ptr<translated> on_core, const window &space);

    std::unique_ptr<translated> on_core_;
    const window &space_;
    fast_pages fast_;
};

} // namespace bulkhead::machine
