// SPDX-License-Identifier: Apache-2.0
// Random tables of two stages, random accesses, and maps that change: every answer of the MMU is that of a
// plain walk of the tables in memory, as long as software makes the invalidations that the architecture
// requires (DDI 0487, D8.16: break before make). With TLBs of every kind, so that entries of all sizes
// compete.
#include <map>

#include <gtest/gtest.h>

#include "machine/mmu.h"
#include "machine/random.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test::mmu_property_test {

namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;
constexpr std::uint64_t accessed = 1U << 10U, read_only = 1U << 7U, contiguous = std::uint64_t{1} << 52U;
constexpr std::uint64_t not_global = 1U << 11U;
constexpr std::uint64_t s2_read = 1U << 6U, s2_write = 1U << 7U, s2_normal = 0xFU << 2U;
constexpr std::uint64_t address_bits = 0x0000'FFFF'FFFF'F000;

// --- The reference: the architecture's text, one stage after the other, nothing cached ---

using memory = std::map<std::uint64_t, std::uint64_t>;

struct reference_page {
    std::uint64_t address;
    bool writable;
};

std::uint64_t word(const memory &all, std::uint64_t where)
{
    const auto found = all.find(where);
    return found == all.end() ? 0 : found->second;
}

// 39 bits, from level 1. `under`: stage 2's translation of the addresses of tables.
template <class Under>
std::optional<reference_page> plain_walk(const memory &all, std::uint64_t root, std::uint64_t input,
                                         bool stage1, Under &&under)
{
    std::uint64_t table = root;
    for (int level = 1; level <= 3; ++level) {
        const int low = 39 - 9 * level;
        const std::optional<std::uint64_t> where = under(table + (input >> low) % 512 * 8);
        if (!where) {
            return std::nullopt;
        }
        const std::uint64_t raw = word(all, *where);
        if (raw % 2 == 0 || (level == 3 && raw / 2 % 2 == 0)) {
            return std::nullopt;
        }
        if (level < 3 && raw / 2 % 2 == 1) {
            table = raw & address_bits;
            continue;
        }
        const std::uint64_t size = std::uint64_t{1} << low;
        const bool writable = stage1 ? (raw & read_only) == 0 : (raw & s2_write) != 0;
        return reference_page{(raw & address_bits) / size * size + input % size, writable};
    }
    return std::nullopt;
}

// --- Tables that change ---

class random_tables {
public:
    random_tables(std::uint64_t seed, bool two_stages) : chance_(seed), two_stages_(two_stages)
    {
        if (two_stages_) {
            regime_.stage2 = {.on = true, .root = {new_table(false)}, .input_bits = 39, .start_level = 1};
        }
        regime_.stage1 = {.on = true, .root = {new_table(true)}, .input_bits = 39, .start_level = 1};
        regime_.mair = 0xFF;
        regime_.vmid = 3;
        regime_.asid = 7;
    }

    // One more mapping at a random place, of a random size, that is not mapped yet.
    void map_something(bool stage1)
    {
        static constexpr std::uint64_t sizes[] = {4 * kib, 4 * kib, 64 * kib, 2 * mib, 2 * mib, gib};
        const std::uint64_t size = sizes[chance_.below(std::size(sizes))];
        const std::uint64_t at = an_address(stage1) / size * size;
        const std::uint64_t to = std::uint64_t{chance_.below(1U << 14U)} * 4 * mib / size * size;
        std::uint64_t bits = accessed;
        if (stage1) {
            bits |= (chance_.below(4) == 0 ? read_only : 0) | (chance_.below(2) == 0 ? not_global : 0);
        } else {
            bits |= s2_normal | s2_read | (chance_.below(4) == 0 ? 0 : s2_write);
        }
        map(stage1, at, to, size, bits);
    }

    // Removes one mapping, as software must: break, invalidate. Returns its address.
    std::optional<std::uint64_t> unmap_something(bool stage1)
    {
        auto &leaves = leaves_[stage1 ? 1 : 0];
        if (leaves.empty()) {
            return std::nullopt;
        }
        auto chosen = std::next(leaves.begin(), chance_.below(static_cast<std::uint32_t>(leaves.size())));
        const std::uint64_t at = chosen->first;
        for (const std::uint64_t where : chosen->second) {
            words_.erase(where);
        }
        leaves.erase(chosen);
        return at;
    }

    // Near others, so that accesses hit mapped pages.
    std::uint64_t an_address(bool stage1)
    {
        const std::uint64_t space = stage1 ? 16 * mib : 64 * mib;
        const std::uint64_t where = chance_.below(4) * gib;
        return where + std::uint64_t{chance_.below(static_cast<std::uint32_t>(space / 8))} * 8;
    }
    std::uint64_t a_mapped_address()
    {
        const auto &leaves = leaves_[1];
        if (leaves.empty() || chance_.below(4) == 0) {
            return an_address(true);
        }
        const auto chosen =
            std::next(leaves.begin(), chance_.below(static_cast<std::uint32_t>(leaves.size())));
        return chosen->first + std::uint64_t{chance_.below(4U << 10U)} * 8;
    }

    std::optional<reference_page> intermediate(std::uint64_t address) const
    {
        if (!two_stages_) {
            return reference_page{address, true};
        }
        return plain_walk(words_, regime_.stage2.root.value, address, false,
                          [](std::uint64_t where) { return std::optional{where}; });
    }
    std::optional<reference_page> reference(std::uint64_t address) const
    {
        const auto upper = plain_walk(words_, regime_.stage1.root.value, address, true,
                                      [&](std::uint64_t where) -> std::optional<std::uint64_t> {
                                          const auto below = intermediate(where);
                                          return below ? std::optional{below->address} : std::nullopt;
                                      });
        const auto lower = upper ? intermediate(upper->address) : std::nullopt;
        if (!lower) {
            return std::nullopt;
        }
        return reference_page{lower->address, upper->writable && lower->writable};
    }

    const translation_regime &regime() const { return regime_; }
    std::optional<std::uint64_t> read(phys_addr where) const { return word(words_, where.value); }
    random_source &chance() { return chance_; }

private:
    static constexpr std::uint64_t tables_at = 0x8'0000'0000; // behind all that is mapped to

    // Where walks find the tables. Tables of stage 1 are mapped by pages of stage 2, one to one.
    std::uint64_t new_table(bool stage1)
    {
        const std::uint64_t made = tables_at + tables_++ * 4 * kib;
        if (stage1 && two_stages_) {
            map(false, made, made, 4 * kib, accessed | s2_normal | s2_read | s2_write);
            leaves_[0].erase(made); // and stay
        }
        return made;
    }

    void map(bool stage1, std::uint64_t at, std::uint64_t to, std::uint64_t size, std::uint64_t bits)
    {
        std::uint64_t table = stage1 ? regime_.stage1.root.value : regime_.stage2.root.value;
        const std::uint64_t page = size == 64 * kib ? 4 * kib : size;
        for (int level = 1;; ++level) {
            const int low = 39 - 9 * level;
            const std::uint64_t where = table + (at >> low) % 512 * 8;
            if (page == std::uint64_t{1} << low) {
                std::vector<std::uint64_t> own;
                for (std::uint64_t i = 0; i < size / page; ++i) {
                    own.push_back(where + i * 8);
                }
                if (std::ranges::any_of(own, [&](std::uint64_t one) { return word(words_, one) != 0; })) {
                    return;
                }
                for (std::uint64_t i = 0; i < own.size(); ++i) {
                    words_[own[i]] =
                        (to + i * page) | bits | (level == 3 ? 3U : 1U) | (size == 64 * kib ? contiguous : 0);
                }
                leaves_[stage1 ? 1 : 0][at] = own;
                return;
            }
            const std::uint64_t raw = word(words_, where);
            if (raw == 0) {
                table = new_table(stage1);
                words_[where] = table | 3;
            } else if (raw % 4 == 3) {
                table = raw & address_bits;
            } else {
                return; // in a block
            }
        }
    }

    random_source chance_;
    bool two_stages_;
    translation_regime regime_;
    memory words_; // by physical address
    std::map<std::uint64_t, std::vector<std::uint64_t>> leaves_[2];
    std::uint64_t tables_ = 0;
};

struct shape {
    const char *name;
    mmu_settings settings;
};

std::vector<shape> shapes()
{
    const std::vector<std::uint32_t> sizes{12, 16, 21, 29};
    mmu_settings small;
    small.l1 = {.entries = 3};
    small.l2 = {.entries = 16, .ways = 4, .hit_cycles = 2, .page_shifts = sizes};
    small.intermediate = {.entries = 8, .ways = 4, .page_shifts = sizes};
    small.walk_cache = {.entries = 8, .ways = 4};
    mmu_settings large;
    large.l1 = {.entries = 10};
    large.l2 = {.entries = 512, .ways = 4, .page_shifts = sizes};
    large.intermediate = {.entries = 64, .ways = 4, .page_shifts = sizes};
    large.walk_cache = {.entries = 64, .ways = 4};
    large.walks = walk_path::l1;
    mmu_settings one;
    one.l1 = {.entries = 64};
    one.walk_cache = {.entries = 2};
    return {{"nothing is kept", {}},
            {"as a Cortex-A53, small", small},
            {"as a Cortex-A53", large},
            {"one level, any size", one}};
}

void expect_same(random_tables &tables, mmu &unit)
{
    const std::uint64_t address = tables.a_mapped_address();
    const access_kind kind = tables.chance().below(3) == 0 ? access_kind::write : access_kind::read;
    const auto wanted = tables.reference(address);
    const mmu::outcome found = unit.translate(tables.regime(), address, kind);
    const auto *page = std::get_if<page_translation>(&found);
    const bool allowed = wanted && (kind == access_kind::read || wanted->writable);
    ASSERT_EQ(page != nullptr, allowed) << std::hex << address;
    if (page != nullptr) {
        ASSERT_EQ(page->of(address).value, wanted->address) << std::hex << address;
        ASSERT_EQ(page->writable, wanted->writable) << std::hex << address;
    }
}

// Invalidations that break before make requires of software.
void invalidate(mmu &unit, const translation_regime &regime, bool stage1, std::uint64_t address)
{
    if (stage1) {
        unit.invalidate_page(regime.vmid, address);
    } else {
        unit.invalidate_intermediate(regime.vmid, address);
        unit.invalidate_stage1(regime.vmid);
    }
}

TEST(mmu_property, answers_are_those_of_a_plain_walk_while_tables_change)
{
    for (const bool two_stages : {false, true}) {
        for (const shape &one : shapes()) {
            for (std::uint64_t seed = 1; seed <= 6; ++seed) {
                SCOPED_TRACE(std::string(one.name) + ", seed " + std::to_string(seed));
                random_tables tables(seed, two_stages);
                const auto machine = make_machine(small_machine(1));
                core &own = machine->core_at({0});
                mmu unit = expect_made(
                    mmu::make(one.settings, own, [&](phys_addr where) { return tables.read(where); }));
                own.start([&](core &) {
                    for (int i = 0; i < 3000 && !testing::Test::HasFatalFailure(); ++i) {
                        const bool stage1 = !two_stages || tables.chance().below(2) == 0;
                        const std::uint32_t what = tables.chance().below(40);
                        if (what < 4 || i < 60) {
                            tables.map_something(stage1); // nothing invalid is kept
                        } else if (what == 4) {
                            if (const auto gone = tables.unmap_something(stage1)) {
                                invalidate(unit, tables.regime(), stage1, *gone);
                            }
                        } else {
                            expect_same(tables, unit);
                        }
                    }
                });
                machine->timeline().run(for_ever);
            }
        }
    }
}

// Two cores: one walks slowly while the other changes the tables that it walks.
TEST(mmu_property, a_walk_that_an_invalidation_overtakes_is_not_kept)
{
    for (std::uint64_t when_ns = 0; when_ns < 400; when_ns += 5) {
        random_tables tables(1, true);
        for (int i = 0; i < 200; ++i) {
            tables.map_something(i % 2 == 0);
        }
        const auto machine = make_machine(small_machine(2));
        core &walker = machine->core_at({0});
        core &other = machine->core_at({1});
        mmu_settings settings = shapes()[1].settings;
        settings.walks = walk_path::memory;
        mmu unit =
            expect_made(mmu::make(settings, walker, [&](phys_addr where) { return tables.read(where); }));
        std::uint64_t address = 0;
        for (address = tables.a_mapped_address(); !tables.reference(address);) {
            address = tables.a_mapped_address();
        }
        walker.start([&](core &) {
            (void)unit.translate(tables.regime(), address, access_kind::read);
            walker.spend(picoseconds{10'000'000}); // until all is said
            walker.order();
            const mmu::outcome found = unit.translate(tables.regime(), address, access_kind::read);
            EXPECT_EQ(std::holds_alternative<page_translation>(found), tables.reference(address).has_value())
                << when_ns;
        });
        other.start([&](core &) {
            other.spend(picoseconds{when_ns * 1000});
            other.order();
            while (tables.reference(address)) {
                const auto gone = tables.unmap_something(false);
                invalidate(unit, tables.regime(), false, *gone);
            }
        });
        machine->timeline().run(for_ever);
    }
}

} // namespace

} // namespace bulkhead::machine::test::mmu_property_test
