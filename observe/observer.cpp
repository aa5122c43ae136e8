// SPDX-License-Identifier: Apache-2.0
// The observer's shared level, the start of the count, and snapshots; see the header.
#include "observe/observer.h"

namespace bulkhead::observe {

namespace {

using namespace machine;

constexpr std::uint64_t never = 1; // never matches: no word is at an odd address

std::uint64_t start_word(const config &from)
{
    return from.start ? from.start->address.value & ~std::uint64_t{7} : never;
}

} // namespace

result<std::unique_ptr<observer>> observer::make(config from)
{
    const std::size_t owners = from.names.size();
    // Different seeds, so that caches with random replacement do not evict in step.
    auto llc = cache::make(from.llc.geometry, from.llc.policy, owners, from.seed);
    auto l1i = cache::make(from.l1i.geometry, from.l1i.policy, owners, from.seed + 1);
    auto l1d = cache::make(from.l1d.geometry, from.l1d.policy, owners, from.seed + 2);
    for (auto *made : {&llc, &l1i, &l1d}) {
        if (auto *refused = std::get_if<refusal>(made)) {
            return std::move(*refused);
        }
    }
    const l1_pair pair(std::get<cache>(std::move(l1i)), std::get<cache>(std::move(l1d)));
    return std::unique_ptr<observer>(new observer(std::move(from), std::get<cache>(std::move(llc)), pair));
}

observer::observer(config from, cache llc, const l1_pair &pair)
    : config_(std::move(from)), host_memory_(config_.owners), start_word_(start_word(config_)),
      generation_(config_.start ? 0 : 1), llc_(std::move(llc)), windows_(config_.window_accesses)
{
    for (std::uint32_t index = 0; index < config_.cores; ++index) {
        cores_.push_back(std::make_unique<core>(pair));
    }
}

void observer::serve_shared(const l1_miss &miss)
{
    const std::lock_guard lock(shared_lock_);
    serve(llc_, miss);
    windows_.note(llc_.statistics());
}

// Handles a store that verifies addresses, or may be the one that starts the count.
void observer::examine(phys_addr address, unsigned bytes, std::optional<std::uint64_t> value)
{
    if (!value) {
        return;
    }
    host_memory_.verify(address, *value, bytes);
    if (!config_.start || generation_.load() != 0) {
        return;
    }
    const std::uint64_t distance = config_.start->address.value - address.value;
    if (distance > sizeof(*value) - sizeof(std::uint32_t) || distance + sizeof(std::uint32_t) > bytes ||
        static_cast<std::uint32_t>(*value >> (8 * distance)) != config_.start->value) {
        return;
    }
    const std::lock_guard lock(shared_lock_);
    llc_.statistics().reset();
    windows_.restart();
    start_word_.store(never);
    generation_.store(1, std::memory_order_release);
}

void observer::restart(core &self)
{
    self.caches.side(l1_side::instruction).statistics().reset();
    self.caches.side(l1_side::data).statistics().reset();
    self.unattributed = unattributed_counts{};
    self.generation.store(generation_.load(std::memory_order_acquire), std::memory_order_release);
}

snapshot observer::take()
{
    const std::lock_guard lock(shared_lock_);
    const unsigned generation = generation_.load();
    snapshot taken{generation != 0, llc_.statistics(), {}, windows_.series(llc_.statistics())};
    for (const auto &each : cores_) {
        const l1_pair &caches = each->caches;
        // A core without activity since the start still has the counts from before it.
        const bool counts = each->generation.load(std::memory_order_acquire) == generation;
        const cache_statistics none(config_.names.size());
        taken.cores.push_back({counts ? caches.side(l1_side::data).statistics() : none,
                               counts ? caches.side(l1_side::instruction).statistics() : none,
                               counts ? each->unattributed : unattributed_counts{}});
    }
    return taken;
}

} // namespace bulkhead::observe
