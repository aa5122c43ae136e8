// SPDX-License-Identifier: Apache-2.0
// A miss is resolved by a chain of events: main TLB, reads of the walk, answer.
#include "machine/smmu/smmu.h"

#include <utility>

namespace bulkhead::machine {

namespace {

constexpr translation_tag own_tag{.vmid = 1}; // one master has one address space

bool allows(bool readable, bool writable, access_kind kind)
{
    return kind == access_kind::read ? readable : writable;
}

} // namespace

result<std::unique_ptr<smmu>> smmu::make(const smmu_settings &wanted, const translation_stage &tables,
                                         surroundings around)
{
    auto tlb = page_tlb::make(wanted.tlb);
    auto main = page_tlb::make(wanted.main);
    auto walks = table_cache::make(wanted.walk_cache);
    for (const refusal *one :
         {std::get_if<refusal>(&tlb), std::get_if<refusal>(&main), std::get_if<refusal>(&walks)}) {
        if (one != nullptr) {
            return *one;
        }
    }
    return std::unique_ptr<smmu>(
        new smmu(wanted, tables, std::move(around), std::get<page_tlb>(std::move(tlb)),
                 std::get<page_tlb>(std::move(main)), std::get<table_cache>(std::move(walks))));
}

smmu::smmu(const smmu_settings &wanted, const translation_stage &tables, surroundings around, page_tlb tlb,
           page_tlb main, table_cache walks)
    : settings_(wanted), tables_(tables), around_(std::move(around)), tlb_(std::move(tlb)),
      main_(std::move(main)), walks_(std::move(walks))
{
}

std::optional<phys_addr> smmu::look_up(page_tlb &where, std::uint64_t address, access_kind kind)
{
    const page_tlb::entry *const found = where.find(address, own_tag);
    if (found == nullptr || !allows(found->what.readable, found->what.writable, kind)) {
        return std::nullopt; // the walk finds the fault again
    }
    return phys_addr{found->what.output | (address & ((std::uint64_t{1} << found->shift) - 1))};
}

std::optional<phys_addr> smmu::find(std::uint64_t address, access_kind kind)
{
    ++counts_.lookups;
    const std::optional<phys_addr> found = look_up(tlb_, address, kind);
    counts_.misses += found ? 0 : 1;
    return found;
}

void smmu::resolve(std::uint64_t address, access_kind kind, translated done)
{
    miss_ = pending{.address = address,
                    .kind = kind,
                    .since = around_.timeline.now(),
                    .done = std::move(done),
                    .reads = {},
                    .next = 0,
                    .end = std::nullopt,
                    .waits_for_room = false};
    around_.timeline.at(around_.timeline.now() + settings_.request, [this] { look_up_main(); });
}

void smmu::look_up_main()
{
    const page_tlb::entry *const found = main_.find(miss_->address, own_tag);
    if (found == nullptr || !allows(found->what.readable, found->what.writable, miss_->kind)) {
        begin_walk();
        return;
    }
    keep(tlb_, miss_->address, found->shift, found->what);
    answer(look_up(main_, miss_->address, miss_->kind));
}

// The tables do not change while the machine runs, so the walk is made at once and its reads take their time
// afterwards.
void smmu::begin_walk()
{
    ++counts_.walks;
    vmsa::position from = vmsa::start_of(tables_);
    if (const auto *cached = walks_.find(miss_->address, own_tag); cached != nullptr) {
        from = {vmsa::last_level, cached->what};
    }
    auto found = vmsa::walk(tables_, 2, miss_->address, from,
                            [this](std::uint64_t at) -> std::variant<std::uint64_t, translation_fault> {
                                miss_->reads.push_back(phys_addr{at});
                                if (const auto raw = around_.descriptor(phys_addr{at})) {
                                    return *raw;
                                }
                                return translation_fault{translation_fault::cause::external, 2, 0, false, 0};
                            });
    if (const auto *end = std::get_if<vmsa::end>(&found)) {
        miss_->end = *end;
    }
    read_next();
}

void smmu::read_next()
{
    if (miss_->next == miss_->reads.size()) {
        walk_ended();
        return;
    }
    const std::uint64_t bytes = around_.memory.line_bytes();
    const line_request wanted{.line = phys_addr{miss_->reads[miss_->next].value / bytes * bytes},
                              .kind = access_kind::read,
                              .owner = around_.owner,
                              .master = static_cast<std::uint32_t>(around_.way.master),
                              .mpam = around_.label};
    const memory_system::reply reply =
        around_.memory.fetch_past(around_.way, wanted, *this, around_.timeline.now(), true);
    if (reply.how == memory_system::reply::state::full) {
        miss_->waits_for_room = true; // room() repeats it
        return;
    }
    ++miss_->next;
    ++counts_.reads;
    if (reply.how == memory_system::reply::state::known) {
        arrived(0, reply.when());
    }
}

void smmu::arrived(ticket /*id*/, picoseconds when)
{
    around_.timeline.at(when, [this] { read_next(); });
}

void smmu::room(picoseconds when)
{
    if (miss_ && miss_->waits_for_room) { // clients are told more than once
        miss_->waits_for_room = false;
        around_.timeline.at(when, [this] { read_next(); });
    }
}

void smmu::walk_ended()
{
    counts_.walk_time = counts_.walk_time + picoseconds{around_.timeline.now().value - miss_->since.value};
    if (!miss_->end) {
        answer(std::nullopt);
        return;
    }
    const vmsa::end &end = *miss_->end;
    const vmsa::stage2_attributes attributes = vmsa::stage2_of(end.raw);
    if (!vmsa::accessed(end.raw) || !allows(attributes.readable, attributes.writable, miss_->kind)) {
        answer(std::nullopt);
        return;
    }
    const std::uint64_t address = miss_->address;
    const page what{end.leaf.output, attributes.readable, attributes.writable};
    keep(main_, address, end.leaf.shift, what);
    keep(tlb_, address, end.leaf.shift, what);
    if (end.in.level == vmsa::last_level) {
        constexpr std::uint32_t shift = vmsa::shift_of(vmsa::last_level - 1);
        if (auto *into = walks_.place(address, shift, shift, own_tag); into != nullptr) {
            into->what = end.in.table;
        }
    }
    answer(phys_addr{end.leaf.output | (address & ((std::uint64_t{1} << end.leaf.shift) - 1))});
}

void smmu::answer(std::optional<phys_addr> found)
{
    const translated done = std::move(miss_->done);
    miss_.reset();
    done(found);
}

// An entry may hold a part of a mapping only.
void smmu::keep(page_tlb &where, std::uint64_t address, std::uint32_t shift, const page &what)
{
    const std::uint32_t kept = where.kept(shift);
    if (auto *into = where.place(address, kept, shift, own_tag); into != nullptr) {
        into->what = what;
        const std::uint64_t inside = address & ((std::uint64_t{1} << shift) - 1);
        into->what.output = what.output + (inside >> kept << kept);
    }
}

} // namespace bulkhead::machine
