// SPDX-License-Identifier: Apache-2.0
// A core's time, its order among others and its fibers; see the header. The path of a miss is
// machine/core_miss.cpp.
#include "machine/core.h"

#include <algorithm>

namespace {

bulkhead::machine::core *budget_owner = nullptr; // who was granted machine_budget

} // namespace

std::int64_t machine_budget = 0;

void machine_budget_spent()
{
    budget_owner->budget_spent();
}

namespace bulkhead::machine {

namespace {

constexpr std::uint64_t fs_per_s = 1'000'000'000'000'000;

std::uint64_t instruction_fs(const core_settings &wanted)
{
    return fs_per_s / 1000 * wanted.instruction_millicycles / wanted.frequency_hz;
}

} // namespace

core::core(core_id id, const core_settings &wanted, cache l1d, std::optional<cache> l2, route way,
           const surroundings &around)
    : id_(id), settings_(wanted), timeline_(around.timeline), memory_(around.memory), ram_(around.ram),
      regions_(around.regions), device_(around.device), cores_(around.cores),
      route_(std::move(way)), uncached_route_{{}, route_.master}, l1d_(std::move(l1d)), l2_(std::move(l2)),
      line_mask_(wanted.l1d.line_bytes - 1), line_bits_(l1d_.geometry().line_bits()),
      l1d_set_mask_(l1d_.geometry().sets() - 1), used_last_(l1d_.used_last()),
      instruction_fs_(instruction_fs(wanted)), cycle_fs_(fs_per_s / wanted.frequency_hz),
      load_use_fs_(cycle_fs_ * wanted.load_use_cycles),
      load_use_instructions_(
          static_cast<std::int64_t>((load_use_fs_ + instruction_fs_ - 1) / instruction_fs_)),
      instructions_reciprocal_(~std::uint64_t{0} / instruction_fs_),
      prefetcher_(wanted.prefetcher, wanted.l1d.line_bytes)
{
    l1d_.lock_ways(wanted.l1d.locked_ways);
    if (l2_) {
        l2_->lock_ways(wanted.l2->locked_ways);
    }
    memory_.attach(*this, route_);
    timeline_.add(*this);
}

core::~core() = default;

// --- Time ---

// After a change of the running core: its budget is not what another one left.
void core::resumed()
{
    granted_ = machine_budget;
    budget_owner = this;
}

// How many instructions end before a time, or one less: a division would cost more than all the rest.
std::uint64_t core::budget_to(picoseconds limit) const
{
    __extension__ using wide = unsigned __int128;
    constexpr std::uint64_t most_ps = ~std::uint64_t{0} / 1000;
    const std::uint64_t limit_fs = std::min(limit.value, most_ps) * 1000;
    const std::uint64_t left_fs = std::max(limit_fs, clock_fs_) - clock_fs_;
    return static_cast<std::uint64_t>(static_cast<wide>(left_fs) * instructions_reciprocal_ >> 64U);
}

// What was used is settled.
void core::grant()
{
    picoseconds limit = timeline_.private_limit();
    if (attend_) {
        limit = std::min(limit, signal_at_);
    }
    if (!standstills_.empty()) {
        limit = std::min(limit, standstills_.front().when);
    }
    std::uint64_t budget = budget_to(limit);
    if (settings_.window_instructions != 0 && under_way_.any(purpose::load, clock_now())) {
        const std::uint64_t end =
            under_way_.oldest(purpose::load).instruction + settings_.window_instructions;
        budget = std::min(budget, end <= counts_.instructions ? 0 : end - counts_.instructions);
    }
    granted_ = static_cast<std::int64_t>(budget);
    machine_budget = granted_;
}

// The end of each slow path: interrupts are taken between instructions.
void core::finish()
{
    if (!standstills_.empty()) [[unlikely]] {
        take_standstills();
    }
    if (attend_ && signal_at_ <= clock_now()) {
        signal_at_ = engine::never;
        attend_();
    }
    grant();
}

// Between two instructions.
void core::take_standstills()
{
    while (!standstills_.empty() && standstills_.front().when <= clock_now()) {
        const picoseconds time = standstills_.front().time;
        standstills_.pop_front();
        wait_until(clock_now() + time, stall_cause::maintenance);
        if (timeline_.private_limit() <= clock_now()) {
            order();
        }
    }
}

void core::budget_spent()
{
    settle();
    while (settings_.window_instructions != 0 && under_way_.any(purpose::load, clock_now())) {
        if (counts_.instructions <=
            under_way_.oldest(purpose::load).instruction + settings_.window_instructions) {
            break;
        }
        order();
        wait_for_entry(under_way_.oldest(purpose::load), stall_cause::memory);
    }
    if (timeline_.private_limit() <= clock_now()) {
        order();
    }
    finish();
}

void core::spend(picoseconds time)
{
    settle();
    clock_fs_ += time.value * 1000;
    if (timeline_.private_limit() <= clock_now()) {
        order();
    }
    finish();
}

void core::spend_cycles(std::uint32_t cycles, stall_cause cause)
{
    if (cycles == 0) {
        return;
    }
    counts_.stall_ps[static_cast<std::size_t>(cause)] += cycles * cycle_fs_ / 1000;
    settle();
    clock_fs_ += cycles * cycle_fs_;
    if (timeline_.private_limit() <= clock_now()) {
        order();
    }
    finish();
}

// --- Order ---

void core::wait_until(picoseconds when, stall_cause cause)
{
    const std::uint64_t when_fs = when.value * 1000;
    if (when_fs > clock_fs_) {
        counts_.stall_ps[static_cast<std::size_t>(cause)] += (when_fs - clock_fs_) / 1000;
        clock_fs_ = when_fs;
    }
}

// Until arrived() or room() has named a time, and that time has come; or, for room, until the next line that
// memory has decided on comes, which may be what a level waits for.
void core::block(waiting what, stall_cause cause)
{
    waits_ = what;
    due_ = what == waiting::room ? memory_.next_landing(clock_now()) : engine::never;
    timeline_.give_way(*this);
    waits_ = waiting::no;
    wait_until(due_, cause);
}

void core::arrived(ticket id, picoseconds when)
{
    under_way_.arrives(id, when);
    if (waits_ == waiting::data && waits_for_ == id) {
        wake(std::max(clock_now(), when));
    }
}

void core::room(picoseconds when)
{
    if (waits_ == waiting::room) {
        wake(std::min(due_, std::max(clock_now(), when)));
    }
}

void core::wait()
{
    settle();
    waits_ = waiting::signal;
    due_ = signal_at_ == engine::never ? signal_at_ : std::max(clock_now(), signal_at_);
    timeline_.give_way(*this);
    waits_ = waiting::no;
    signal_at_ = engine::never;
    const std::uint64_t until_fs = due_.value * 1000;
    if (until_fs > clock_fs_) {
        counts_.idle_ps += (until_fs - clock_fs_) / 1000;
        clock_fs_ = until_fs;
    }
    while (!standstills_.empty() && standstills_.front().when <= clock_now()) {
        standstills_.pop_front(); // there was nothing to stand still
    }
    grant();
}

void core::stand_still(picoseconds when, picoseconds time)
{
    standstills_.push_back({when, time});
}

void core::signal(picoseconds when)
{
    signal_at_ = std::min(signal_at_, when);
    if (waits_ == waiting::signal) {
        wake(std::max(clock_now(), signal_at_));
    } else if (timeline_.running() == this) {
        settle();
        grant();
    }
}

// --- Fibers ---

void core::run_on(fiber &next)
{
    fiber &from = *current_;
    current_ = &next;
    from.switch_to(next);
}

void core::start(std::function<void(core &)> program, byte_count stack)
{
    std::erase_if(started_, [](const std::unique_ptr<fiber> &one) { return one->ended(); });
    started_.push_back(std::make_unique<fiber>(
        [this, run = std::move(program)]() -> fiber & {
            resumed();
            finish();
            run(*this);
            settle();
            ended_ = true;
            return timeline_.after_end();
        },
        stack));
    current_ = started_.back().get();
    ended_ = false;
    clock_fs_ = std::max(clock_fs_, timeline_.now().value * 1000);
    wake(clock_now());
}

// --- Counts ---

core_counts core::counts() const
{
    core_counts now = counts_;
    if (timeline_.running() == this) {
        now.instructions += static_cast<std::uint64_t>(granted_ - machine_budget);
    }
    now.cycles = (clock_fs() - now.idle_ps * 1000) / cycle_fs_;
    for (std::size_t i = 0; i < core_event_count; ++i) {
        now.events[i] = count_of(static_cast<core_event>(i));
    }
    return now;
}

void core::watch(core_event which, std::uint64_t count, std::function<void()> reached)
{
    tally &own = tallies_[static_cast<std::size_t>(which)];
    const std::uint64_t counted = own.goal - own.left;
    own.left = count > counted ? count - counted : tally::far;
    own.goal = counted + own.left;
    reached_[static_cast<std::size_t>(which)] = std::move(reached);
}

void core::watch_reached(core_event which)
{
    tally &own = tallies_[static_cast<std::size_t>(which)];
    const std::uint64_t counted = own.goal - own.left;
    own = {tally::far, counted + tally::far};
    // It may watch anew from within.
    if (const std::function<void()> reached = reached_[static_cast<std::size_t>(which)]) {
        reached();
    }
}

} // namespace bulkhead::machine
