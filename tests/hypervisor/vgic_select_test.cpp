// SPDX-License-Identifier: Apache-2.0
//
// The choice of interrupts for list registers compared with a simple one that sorts them.
#include "deliver_fixture.h"

extern "C" {
#include "vgic/vgic.h"
#include "vgic/vgic_select.h"
#include "vm/domain.h"
}

#include <algorithm>
#include <memory>
#include <random>
#include <tuple>

namespace vgic_select_test {
namespace {

using namespace bulkhead_test;

struct OneOfTwo {
    std::unique_ptr<struct domain> domain = std::make_unique<struct domain>();
    std::unique_ptr<struct vcpu[]> vcpus = std::make_unique<struct vcpu[]>(2);
    struct vcpu &vcpu = vcpus[1];

    OneOfTwo()
    {
        domain->vcpus = vcpus.get();
        domain->vcpu_count = 2;
        for (uint32_t i = 0; i < 2; i++) {
            domain->vcpus[i].domain = domain.get();
            domain->vcpus[i].index = i;
        }
        vgic_domain_init(domain.get());
    }

    struct vgic_bank &bank(uint32_t n) { return n == 0 ? vcpu.vgic.bank : domain->vgic.spis[n - 1]; }
};

struct Waiting {
    uint32_t intid;
    bool active;
    bool forced;
    uint32_t priority;
};

// As vgic_find_waiting() is documented, interrupt by interrupt.
std::vector<Waiting> waiting_of(OneOfTwo &one, bool active_only)
{
    std::vector<Waiting> found;

    for (uint32_t intid = 0; intid < VGIC_INTID_LIMIT; intid++) {
        const vgic_bank &bank = one.bank(intid / 32);
        const auto has = [intid](uint32_t mask) { return (mask >> intid % 32 & 1) != 0; };
        const bool in_group = ((one.domain->vgic.control & 2) != 0 && has(bank.group1)) ||
                              ((one.domain->vgic.control & 1) != 0 && !has(bank.group1));
        const bool pending = has(bank.pending) || (has(bank.line) && !has(bank.edge));
        const bool active = has(bank.active);
        const bool mine = intid < 32 || (active ? one.domain->vgic.owner[intid - 32]
                                                : one.domain->vgic.target[intid - 32]) == one.vcpu.index;

        if (mine && !has(bank.resident) &&
            (active || (!active_only && pending && in_group && has(bank.enabled)))) {
            found.push_back({intid, active, active && has(bank.forced), bank.priority[intid % 32]});
        }
    }
    return found;
}

std::vector<Waiting> first_of(std::vector<Waiting> all, size_t count)
{
    std::stable_sort(all.begin(), all.end(), [](const Waiting &a, const Waiting &b) {
        return std::tuple{a.forced, a.priority, !a.active} < std::tuple{b.forced, b.priority, !b.active};
    });
    std::vector<Waiting> first(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    const auto can_be_taken = [](const Waiting &one) { return !one.active; };
    if (std::none_of(first.begin(), first.end(), can_be_taken)) {
        const auto pending = std::find_if(all.begin(), all.end(), can_be_taken);
        if (pending != all.end()) {
            first.back() = *pending;
        }
    }
    std::sort(first.begin(), first.end(),
              [](const Waiting &a, const Waiting &b) { return a.intid < b.intid; });
    return first;
}

std::vector<uint32_t> intids(const std::vector<Waiting> &all)
{
    std::vector<uint32_t> numbers;

    for (const Waiting &one : all) {
        numbers.push_back(one.intid);
    }
    return numbers;
}

std::vector<uint32_t> intids(const vgic_set &set)
{
    std::vector<uint32_t> numbers;

    for (uint32_t intid = 0; intid < VGIC_INTID_LIMIT; intid++) {
        if ((set.banks >> intid / 32 & 1) != 0 && (set.masks[intid / 32] >> intid % 32 & 1) != 0) {
            numbers.push_back(intid);
        }
    }
    return numbers;
}

void put_bit(uint32_t &mask, uint32_t i, bool set)
{
    mask = (mask & ~(1u << i)) | static_cast<uint32_t>(set) << i;
}

// Any state of the banks; with few different priorities more interrupts are equal.
void make_up(OneOfTwo &one, std::mt19937 &random)
{
    const auto word = [&random](uint32_t density) {
        uint32_t bits = static_cast<uint32_t>(random());

        for (uint32_t i = 0; i < density; i++) {
            bits &= static_cast<uint32_t>(random());
        }
        return bits;
    };
    const uint32_t density = static_cast<uint32_t>(random() % 5);
    const uint32_t priorities = 1u << random() % 6;

    one.domain->vgic.control = static_cast<uint32_t>(random() % 4);
    for (uint32_t n = 0; n < VGIC_BANKS; n++) {
        vgic_bank &bank = one.bank(n);

        bank.enabled = ~word(2);
        bank.group1 = word(0);
        bank.edge = word(0);
        bank.pending = word(density);
        bank.line = word(density + 1);
        bank.active = word(density);
        bank.resident = word(3);
        bank.forced = bank.active & word(0);
        for (uint32_t i = 0; i < 32; i++) {
            bank.priority[i] = static_cast<uint8_t>(random() % priorities << 3);
            for (uint32_t plane = 0; plane < VGIC_PRIORITY_BITS; plane++) {
                put_bit(bank.priority_plane[plane], i, (bank.priority[i] >> (7 - plane) & 1) != 0);
            }
        }
    }
    for (uint32_t spi = 0; spi < VGIC_SHARED_COUNT; spi++) {
        const uint8_t who[] = {1, 0, 1, VGIC_NO_VCPU};

        one.domain->vgic.target[spi] = who[random() % 4];
        one.domain->vgic.owner[spi] = who[random() % 4];
        put_bit(one.vcpu.vgic.routed[spi / 32], spi % 32, one.domain->vgic.target[spi] == 1);
        put_bit(one.vcpu.vgic.owned[spi / 32], spi % 32, one.domain->vgic.owner[spi] == 1);
    }
}

TEST(Select, FindsAndChoosesAsSortingDoes)
{
    std::mt19937 random(1);
    int chosen = 0;

    for (int round = 0; round < 2000; round++) {
        OneOfTwo one;
        const bool active_only = random() % 4 == 0;

        make_up(one, random);
        const std::vector<Waiting> expected = waiting_of(one, active_only);
        vgic_set waiting;
        vgic_find_waiting(&one.vcpu, active_only, &waiting);
        ASSERT_EQ(intids(waiting), intids(expected)) << round;
        for (const uint32_t count : {1u, 2u, 4u, 16u, 31u}) {
            const bool more = expected.size() > count;

            ASSERT_EQ(vgic_has_more(&waiting, count), more) << round;
            if (more) {
                vgic_set left = waiting;
                vgic_leave_most_urgent(&one.vcpu, &left, count);
                ASSERT_EQ(intids(left), intids(first_of(expected, count))) << round << ", " << count;
                chosen++;
            }
        }
    }
    EXPECT_GT(chosen, 1000);
}

} // namespace
} // namespace vgic_select_test
