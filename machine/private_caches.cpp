// SPDX-License-Identifier: Apache-2.0
// Evictions of the private caches, and snoops by other cores; see the header.
#include "machine/private_caches.h"

namespace bulkhead::machine {

void private_caches::l1_gives_up(written_back gone)
{
    gone.mpam = l1d_.gone_label();
    tallies_.count(core_event::l1d_write_back);
    if (!l2_ || (gone.line.value & shared_tag) != 0) {
        gone.line.value &= ~shared_tag;
        bus_.write_back(gone);
        return;
    }
    tallies_.count(core_event::l2d_access);
    l2_gives_up(l2_->receive(gone));
}

// Where the level below allocates on eviction, nearly every miss comes here; its calls are inlined.
[[gnu::flatten]] void private_caches::l1_gives_up_clean(cache::contents slot)
{
    const bool coming = cache::is_marked(slot);
    written_back gone = l1d_.given_up(slot);
    gone.mpam = l1d_.gone_label();
    const bool of_shared_frame = (gone.line.value & shared_tag) != 0;
    gone.line.value &= ~shared_tag;
    if (!l2_) {
        bus_.give_up_clean(gone, coming);
    } else if (!of_shared_frame) {
        tallies_.count(core_event::l2d_access);
        l2_gives_up(l2_->receive(gone, false, coming ? line_mark::coming : line_mark::none));
    }
}

void private_caches::l2_gives_up(const std::optional<displaced> &gone)
{
    if (gone && gone->dirty) {
        bus_.write_back({gone->line, gone->owner, l2_->gone_label()});
    } else if (gone && bus_.keeps_clean()) {
        bus_.give_up_clean({gone->line, gone->owner, l2_->gone_label()}, false);
    }
}

void private_caches::fill_l2(phys_addr line, owner_id owner)
{
    l2_gives_up(l2_->fill(line, owner, access_kind::read, line_mark::none, bus_.label()));
}

std::optional<written_back> private_caches::drop(phys_addr line)
{
    std::optional<written_back> newest;
    for (const phys_addr known : {line, phys_addr{line.value | shared_tag}}) {
        for (cache *level : {&l1d_, l2()}) {
            const std::optional<displaced> was = level == nullptr ? std::nullopt : level->invalidate(known);
            if (was && was->dirty) {
                newest = written_back{line, was->owner, level->gone_label()};
            }
        }
    }
    return newest;
}

bool private_caches::clean(phys_addr line)
{
    bool dirty = false;
    for (const phys_addr known : {line, phys_addr{line.value | shared_tag}}) {
        for (cache *level : {&l1d_, l2()}) {
            dirty = (level != nullptr && level->clean(known)) || dirty;
        }
    }
    return dirty;
}

bool private_caches::snoop(phys_addr line, access_kind kind, owner_id owner, picoseconds when)
{
    const phys_addr tagged{line.value | shared_tag};
    if (!l1d_.contains(tagged)) {
        return false;
    }
    const mpam_label label = l1d_.label_of(tagged);
    bool dirty = false;
    if (kind == access_kind::write) {
        const std::optional<displaced> was = l1d_.invalidate(tagged);
        dirty = was && was->dirty;
    } else {
        dirty = l1d_.clean(tagged);
    }
    if (dirty) {
        tallies_.count(core_event::l1d_write_back);
        bus_.hand_over({line, owner, label}, when);
    }
    return kind == access_kind::write || dirty;
}

} // namespace bulkhead::machine
