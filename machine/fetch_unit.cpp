// SPDX-License-Identifier: Apache-2.0
// Lookups in L1I and the misses behind it; see the header.
#include "machine/fetch_unit.h"

#include <algorithm>

namespace bulkhead::machine {

namespace {

constexpr std::uint64_t page_bytes = 4096;

// L1I is indexed by the virtual address and tagged by the physical one (Cortex-A53: DDI 0500D page 4-47,
// CTR_EL0.L1Ip; Cortex-A9: DDI 0388I page 7-2; of others assumed), so that colored memory uses all of its
// sets. The cache is accessed by a name of the line: its page, then the bits of the virtual address that
// select the set.
class line_names {
public:
    explicit line_names(const cache_geometry &shape)
        : way_(std::max(page_bytes, shape.sets() * shape.line().value)), line_(shape.line().value)
    {
    }

    [[nodiscard]] phys_addr of(phys_addr where, std::uint64_t address) const
    {
        return phys_addr{where.value / page_bytes * way_ + address % way_ / line_ * line_};
    }
    // All names of a line, whatever virtual address its page has: `number` counts them.
    [[nodiscard]] std::uint64_t count() const { return way_ / page_bytes; }
    [[nodiscard]] phys_addr of(phys_addr where, std::uint64_t address, std::uint64_t number) const
    {
        return of(where, address % page_bytes + number * page_bytes);
    }

private:
    std::uint64_t way_; // bytes of addresses with different sets; at least a page
    std::uint64_t line_;
};

} // namespace

fetch_unit::fetch_unit(std::optional<cache> l1i, const core_settings &wanted, const frames &ram,
                       load_store_unit &load_store, sequencer &turn, event_tallies &tallies)
    : l1i_(std::move(l1i)),
      bit_(l1i_ && turn.id().value < most_cores ? std::uint64_t{1} << turn.id().value : 0),
      outer_line_bytes_(wanted.l1d.line_bytes), l2_latency_(picoseconds{wanted.l2_latency_ps}), ram_(ram),
      load_store_(load_store), turn_(turn), tallies_(tallies)
{
}

bool fetch_unit::fetch(phys_addr where, const std::shared_ptr<fetched_text> &text, std::uint64_t offset)
{
    if (!l1i_) {
        return false;
    }
    const phys_addr line = line_names(l1i_->geometry()).of(where, offset);
    if (l1i_->hit(line, access_kind::read)) {
        hold(line, text, offset);
        return false;
    }
    const frames::frame *const frame = ram_.find(where);
    if (frame == nullptr) {
        return false; // not in memory that caches hold
    }
    const owner_id owner = frame->owner; // the frame may change while other cores run
    tallies_.count(core_event::l1i_refill);
    const phys_addr outer{where.value & ~(outer_line_bytes_ - 1)};
    picoseconds now = turn_.order();
    if (const auto gone = l1i_->fill(line, owner, access_kind::read)) {
        tell(gone->line);
    }
    hold(line, text, offset);
    cache *const l2 = load_store_.caches().l2();
    if (l2 != nullptr) {
        tallies_.count(core_event::l2d_access);
        if (l2->hit(outer, access_kind::read)) {
            turn_.wait_until(now + l2_latency_, stall_cause::fetch);
            return true;
        }
        tallies_.count(core_event::l2d_refill);
    }
    const mpam_label data = load_store_.bus().label();
    load_store_.bus().set_label(label_);
    const memory_system::reply reply = load_store_.bus().fetch_allocating(outer, owner, true, now);
    if (l2 != nullptr) {
        load_store_.caches().fill_l2(outer, owner);
    }
    load_store_.bus().set_label(data);
    wait_for(reply);
    return true;
}

void fetch_unit::wait_for(memory_system::reply reply)
{
    if (reply.how == memory_system::reply::state::known) {
        turn_.wait_until(reply.when(), stall_cause::fetch);
    } else {
        turn_.wait_for_data(reply.id(), stall_cause::fetch);
    }
}

void fetch_unit::drop(phys_addr line)
{
    if (!l1i_) {
        return;
    }
    const line_names names(l1i_->geometry());
    for (std::uint64_t at = line.value; at < line.value + outer_line_bytes_; at += line_bytes()) {
        for (std::uint64_t number = 0; number < names.count(); ++number) {
            const phys_addr name = names.of(phys_addr{at}, at, number);
            if (l1i_->invalidate(name)) {
                tell(name);
            }
        }
    }
}

void fetch_unit::drop_all()
{
    for (std::uint64_t set = 0; l1i_ && set < l1i_->geometry().sets(); ++set) {
        for (std::uint32_t way = 0; way < l1i_->geometry().ways(); ++way) {
            if (const std::optional<phys_addr> name = l1i_->line_at(set, way)) {
                l1i_->invalidate(*name);
                tell(*name);
            }
        }
    }
}

// Two programs can have the same memory one after the other. The program that fetched the line last is told
// when the line leaves; the one that held it before is told now, and fetches again.
void fetch_unit::hold(phys_addr line, const std::shared_ptr<fetched_text> &text, std::uint64_t offset)
{
    offset &= ~(line_bytes() - 1);
    holder &own = holders_[line.value];
    const std::shared_ptr<fetched_text> before = own.text.lock();
    if (before && (before != text || own.offset != offset)) {
        before->left(bit_, own.offset, line_bytes());
    }
    own = {text, offset};
}

void fetch_unit::tell(phys_addr line)
{
    const auto found = holders_.find(line.value);
    if (found == holders_.end()) {
        return;
    }
    if (const std::shared_ptr<fetched_text> text = found->second.text.lock()) {
        text->left(bit_, found->second.offset, line_bytes());
    }
    holders_.erase(found);
}

} // namespace bulkhead::machine
