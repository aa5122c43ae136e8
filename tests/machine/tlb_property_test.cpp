// SPDX-License-Identifier: Apache-2.0
// Translation caches beside one that searches all its entries each time: whatever is inserted, found, locked
// and invalidated, both have the same entries and replace the same ones.
#include <gtest/gtest.h>

#include "machine/random.h"
#include "machine/tlb.h"
#include "tests/machine/make.h"

namespace bulkhead::machine::test::tlb_property_test {

namespace {

using tested = translation_cache<std::uint64_t>;

// A fully associative cache as its contract says it, without any shortcut.
class plain_cache {
public:
    plain_cache(std::size_t entries, tlb_policy policy) : entries_(entries), policy_(policy) {}

    const std::uint64_t *find(std::uint64_t address, const translation_tag &who)
    {
        for (tested::entry *const one : all()) {
            if (one->used != 0 && one->has(address) && one->tag.serves(who)) {
                one->used = policy_ == tlb_policy::lru ? ++clock_ : one->used;
                return &one->what;
            }
        }
        return nullptr;
    }
    void insert(std::uint64_t address, std::uint32_t shift, const translation_tag &who, std::uint64_t what)
    {
        const std::uint64_t first = address >> shift << shift;
        tested::entry *into = &entries_.front();
        for (tested::entry &one : entries_) {
            if (one.first == first && one.shift == shift && one.tag.serves(who)) {
                into = &one;
                break;
            }
            into = one.used < into->used ? &one : into;
        }
        *into = {first, shift, shift, who, what, ++clock_};
    }
    void lock(std::uint64_t address, std::uint32_t shift, const translation_tag &who, std::uint64_t what)
    {
        for (tested::entry *const one : all()) {
            if (one->used != 0 && one->has(address) && one->tag.serves(who)) {
                *one = {};
            }
        }
        locked_ = {address >> shift << shift, shift, shift, who, what, ++clock_};
    }
    template <class Which> void invalidate(const Which &which)
    {
        for (tested::entry *const one : all()) {
            *one = one->used != 0 && which(*one) ? tested::entry{} : *one;
        }
    }

private:
    std::vector<tested::entry *> all()
    {
        std::vector<tested::entry *> found{&locked_};
        for (tested::entry &one : entries_) {
            found.push_back(&one);
        }
        return found;
    }

    std::vector<tested::entry> entries_;
    tested::entry locked_;
    tlb_policy policy_;
    std::uint64_t clock_ = 0;
};

class S7Tlb : public testing::TestWithParam<tlb_policy> {};

TEST_P(S7Tlb, HasTheEntriesOfAPlainOne)
{
    std::uint64_t found = 0;
    std::uint64_t missed = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        random_source random(seed);
        const std::uint32_t entries = 1 + random.below(10);
        tested fast =
            expect_made(tested::make({.entries = entries, .lockable_entries = 1, .policy = GetParam()}));
        plain_cache plain(entries, GetParam());
        for (std::uint64_t step = 1; step <= 1000; ++step) {
            const std::uint32_t shift = random.below(4) == 0 ? 16 : 12;
            const std::uint64_t address = std::uint64_t{random.below(40)} << 12U;
            const translation_tag who{.asid = static_cast<std::uint16_t>(random.below(2)),
                                      .global = random.below(8) == 0};
            switch (random.below(seed % 2 == 0 ? 400 : 40)) {
            case 0:
                fast.invalidate_all();
                plain.invalidate([](const auto &) { return true; });
                break;
            case 1: {
                const auto of_address = [=](const auto &one) { return one.is_of(address); };
                fast.invalidate(of_address);
                plain.invalidate(of_address);
                break;
            }
            case 2:
                fast.lock(0, address, shift, shift, who, step);
                plain.lock(address, shift, who, step);
                break;
            default: {
                const tested::entry *const one = fast.find(address, who);
                const std::uint64_t *const wanted = plain.find(address, who);
                ASSERT_EQ(one != nullptr, wanted != nullptr) << "seed " << seed << ", step " << step;
                if (one != nullptr) {
                    ASSERT_EQ(one->what, *wanted) << "seed " << seed << ", step " << step;
                    ++found;
                } else {
                    ++missed;
                }
                if (one == nullptr || random.below(10) == 0) { // also what is there already
                    fast.insert(address, shift, shift, who, step);
                    plain.insert(address, shift, who, step);
                }
                break;
            }
            }
        }
    }
    EXPECT_GT(found, 500U);
    EXPECT_GT(missed, 500U);
}

INSTANTIATE_TEST_SUITE_P(Policies, S7Tlb, testing::Values(tlb_policy::lru, tlb_policy::fifo));

} // namespace

} // namespace bulkhead::machine::test::tlb_property_test
