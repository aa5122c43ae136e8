// SPDX-License-Identifier: Apache-2.0
// Lays out the places of a walk and walks over them; see the header.
#include "machine/generator.h"

#include <algorithm>
#include <numeric>

#include "machine/random.h"

namespace bulkhead::machine {

namespace {

constexpr std::uint64_t most_places = std::uint64_t{1} << 26U;

// Places within pages, in the order of the pages.
std::vector<std::uint64_t> within_pages(const walk_settings &wanted, std::uint64_t bytes)
{
    std::vector<std::uint64_t> places;
    places.reserve(bytes / wanted.stride_bytes + 1);
    for (std::uint64_t offset = 0; offset < bytes; offset += wanted.stride_bytes) {
        places.push_back(wanted.addresses[offset / wanted.page_bytes] + offset % wanted.page_bytes);
    }
    return places;
}

std::uint32_t accesses_of_a_place(walk_kind kind)
{
    const bool two = kind == walk_kind::update || kind == walk_kind::copy || kind == walk_kind::random_pair;
    return two ? 2 : 1;
}

void shuffle(std::vector<std::uint64_t> &places, std::uint64_t seed)
{
    random_source chance{seed};
    for (std::size_t i = places.size(); i > 1; --i) {
        std::swap(places[i - 1], places[chance.below(static_cast<std::uint32_t>(i))]);
    }
}

} // namespace

result<walk> walk::make(const walk_settings &wanted)
{
    const std::uint64_t all = wanted.addresses.size() * wanted.page_bytes;
    const std::uint64_t bytes = wanted.bytes == 0 ? all : wanted.bytes;
    if (wanted.addresses.empty()) {
        return refusal{"a walk over no memory"};
    }
    if (wanted.access_bytes == 0 || wanted.access_bytes > 64) {
        return refusal{"accesses of " + std::to_string(wanted.access_bytes) + " B: 1 to 64 are possible"};
    }
    if (wanted.instructions < accesses_of_a_place(wanted.kind)) {
        return refusal{"fewer instructions than accesses"};
    }
    if (wanted.page_bytes != 0) {
        if (wanted.stride_bytes == 0 || wanted.stride_bytes < wanted.access_bytes ||
            wanted.page_bytes % wanted.stride_bytes != 0) {
            return refusal{"a stride of " + std::to_string(wanted.stride_bytes) + " B in pages of " +
                           std::to_string(wanted.page_bytes) + " B"};
        }
        if (bytes > all) {
            return refusal{std::to_string(bytes) + " B are walked, but only " + std::to_string(all) +
                           " given"};
        }
    }
    if (std::max<std::uint64_t>(wanted.addresses.size(), bytes / std::max(1U, wanted.stride_bytes)) >
        most_places) {
        return refusal{"a walk over more than " + std::to_string(most_places) + " places"};
    }
    walk made{wanted};
    made.places_ = wanted.page_bytes == 0 ? wanted.addresses : within_pages(wanted, bytes);
    if (wanted.kind == walk_kind::copy && made.places_.size() % 2 != 0) {
        return refusal{"a copy between halves of an odd number of places"};
    }
    if (wanted.shuffled) {
        shuffle(made.places_, wanted.seed);
    }
    if (wanted.space) {
        auto space = address_space::make(*wanted.space);
        if (auto *refused = std::get_if<refusal>(&space)) {
            return std::move(*refused);
        }
        made.space_ = std::get<address_space>(std::move(space));
        if (!std::ranges::all_of(made.places_, [&](std::uint64_t at) { return made.space_->has(at); })) {
            return refusal{"a walk beyond its address space"};
        }
    }
    return made;
}

std::optional<refusal> walk::prepare(core &mine)
{
    if (!space_) {
        return std::nullopt;
    }
    if (mine.settings().mmu.l1.entries == 0) {
        return refusal{"an address space on a core without an MMU"};
    }
    auto made = translated::make(*std::move(space_), mine);
    if (auto *refused = std::get_if<refusal>(&made)) {
        return std::move(*refused);
    }
    space_.reset();
    translated_ = std::get<std::unique_ptr<translated>>(std::move(made));
    return std::nullopt;
}

// The address of a place, when the core has computed it; make() has checked that the place exists.
inline phys_addr walk::where(std::uint64_t place, access_kind kind) const
{
    if (!translated_) {
        return phys_addr{place};
    }
    if (settings_.flush_tlb) [[unlikely]] {
        translated_->flush();
    }
    return translated_->of(place, kind);
}

template <walk_kind kind> void walk::in_order(core &mine) const
{
    constexpr access_kind first = kind == walk_kind::write ? access_kind::write : access_kind::read;
    for (const std::uint64_t place : places_) {
        mine.instructions(settings_.instructions);
        const phys_addr address = where(place, first);
        if constexpr (kind == walk_kind::chase) {
            mine.dependent_read(address, settings_.access_bytes);
        } else if constexpr (kind == walk_kind::write) {
            mine.access(address, settings_.access_bytes, access_kind::write);
        } else {
            mine.access(address, settings_.access_bytes, access_kind::read);
            if constexpr (kind == walk_kind::update) {
                mine.access(address, settings_.access_bytes, access_kind::write);
            }
        }
    }
}

void walk::copy_once(core &mine) const
{
    const std::size_t half = places_.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
        mine.instructions(settings_.instructions);
        mine.access(where(places_[i], access_kind::read), settings_.access_bytes, access_kind::read);
        mine.access(where(places_[half + i], access_kind::write), settings_.access_bytes, access_kind::write);
    }
}

std::uint64_t walk::drawn()
{
    return places_[chance_.below(static_cast<std::uint32_t>(places_.size()))];
}

void walk::random_once(core &mine)
{
    const bool pair = settings_.kind == walk_kind::random_pair;
    const std::uint64_t draws = settings_.draws == 0 ? places_.size() : settings_.draws;
    for (std::uint64_t i = 0; i < draws; ++i) {
        const std::uint64_t place = drawn();
        mine.instructions(settings_.instructions);
        if (pair) {
            const phys_addr other = where(drawn(), access_kind::read);
            mine.access(other, settings_.access_bytes, access_kind::read);
            mine.dependent_read(where(place, access_kind::read), settings_.access_bytes);
            mine.dependent_read(other, settings_.access_bytes); // its data are needed for the next step
        } else {
            mine.dependent_read(where(place, access_kind::read), settings_.access_bytes);
        }
    }
}

void walk::once(core &mine)
{
    switch (settings_.kind) {
    case walk_kind::read:
        in_order<walk_kind::read>(mine);
        break;
    case walk_kind::write:
        in_order<walk_kind::write>(mine);
        break;
    case walk_kind::update:
        in_order<walk_kind::update>(mine);
        break;
    case walk_kind::chase:
        in_order<walk_kind::chase>(mine);
        break;
    case walk_kind::copy:
        copy_once(mine);
        break;
    case walk_kind::random:
    case walk_kind::random_pair:
        random_once(mine);
        break;
    }
}

// A core that computes takes its interrupts, as one that sleeps does.
void walk::await_period(core &mine) const
{
    constexpr std::uint32_t instructions = 1000;
    const std::uint64_t now = mine.clock().value;
    const std::uint64_t begin =
        (now / settings_.period_ps + (now % settings_.period_ps != 0)) * settings_.period_ps;

    while (mine.clock().value < begin) {
        mine.instructions(instructions);
    }
}

void walk::run_on(core &mine)
{
    if (settings_.start_ps > mine.clock().value) {
        mine.spend(picoseconds{settings_.start_ps} - mine.clock());
    }
    for (std::uint64_t i = 0; settings_.walks == 0 || i < settings_.walks; ++i) {
        if (settings_.period_ps != 0) {
            await_period(mine);
        }
        const picoseconds before = mine.clock();
        once(mine);
        if (settings_.walks != 0) {
            times_.push_back(mine.clock() - before);
        }
    }
}

} // namespace bulkhead::machine
