// SPDX-License-Identifier: Apache-2.0
// See translated_program.h.
#include "machine/program/translated_program.h"

namespace bulkhead::machine {

result<std::unique_ptr<translated_program>> translated_program::make(address_space tables,
                                                                     const window &space, core &on)
{
    auto made = translated::make(std::move(tables), on);
    if (auto *refused = std::get_if<refusal>(&made)) {
        return std::move(*refused);
    }
    return std::unique_ptr<translated_program>(
        new translated_program(std::get<std::unique_ptr<translated>>(std::move(made)), space));
}

translated_program::translated_program(std::unique_ptr<translated> on_core, const window &space)
    : on_core_(std::move(on_core)), space_(space), fast_(space, on_core_->unit().first_entries())
{
    on_core_->unit().on_dropped([this](std::uint32_t entry) { fast_.dropped(entry); });
}

// Text is translated when data are: meanwhile a loop's instructions stay in their TLB.
bool translated_program::translate(std::uint64_t address, std::uint64_t ipa, access_kind kind,
                                   std::uint64_t code)
{
    mmu &unit = on_core_->unit();
    const translation_regime &regime = on_core_->space().regime();
    const bool known = unit.knows(regime, ipa, kind);
    if (!known) {
        if (const auto at = space_.ipa_of(code)) {
            (void)unit.fetch(regime, *at);
        }
    }
    const mmu::outcome found = unit.translate(regime, ipa, kind);
    const auto *made = std::get_if<page_translation>(&found);
    if (made == nullptr) {
        return false; // the window's frames belong to the program even if it does not map them
    }
    fast_.allow(address, made->entry, made->writable);
    return !known;
}

std::optional<phys_addr> translated_program::translate_code(std::uint64_t ipa)
{
    const mmu::outcome found = on_core_->unit().fetch(on_core_->space().regime(), ipa);
    const auto *made = std::get_if<page_translation>(&found);
    return made == nullptr ? space_.translate(ipa) : made->of(ipa);
}

} // namespace bulkhead::machine
