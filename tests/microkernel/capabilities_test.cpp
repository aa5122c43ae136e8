/* SPDX-License-Identifier: Apache-2.0
 *
 * Capabilities (X6): only granted ones can be used, rights never grow, and revocation reaches everything that
 * was derived and nothing else.
 */
#include "tests/microkernel/kernel_world.h"

#include <map>
#include <random>
#include <set>

namespace bulkhead::test::capabilities_test {
namespace {

using Capabilities = KernelTest;

TEST_F(Capabilities, X6_an_empty_slot_or_one_beyond_the_table_is_none)
{
    for (const uint32_t slot : {SLOT_NONE, SLOTS_FREE, MANAGER_SLOTS, UINT32_MAX}) {
        EXPECT_EQ(call(SYS_REVOKE, slot), SYS_ENOCAP) << slot;
        EXPECT_EQ(call(SYS_RETYPE, slot, FREE_FIRST, FRAME, SLOTS_FREE), SYS_ENOCAP) << slot;
    }
    EXPECT_EQ(call(static_cast<sys_number>(SYS_NUMBERS), SLOT_SELF), SYS_EINVAL);
}

TEST_F(Capabilities, X6_untyped_memory_is_not_delegated)
{
    EXPECT_EQ(call(SYS_DELEGATE, SLOT_UNTYPED, SLOT_COMPONENTS + CLIENT, RIGHTS_ALL, SLOTS_FREE), SYS_EINVAL);
}

TEST_F(Capabilities, X6_a_badge_is_given_once)
{
    const uint32_t badged = RIGHT_CALL | 9u << BADGE_SHIFT;

    ASSERT_EQ(call(SYS_DELEGATE, SLOT_SERVE, SLOT_COMPONENTS + MANAGER, badged, SLOTS_FREE), SYS_OK);
    ASSERT_EQ(call(SYS_DELEGATE, SLOTS_FREE, SLOT_COMPONENTS + MANAGER, RIGHTS_ALL | 3u << BADGE_SHIFT,
                   SLOTS_FREE + 1u),
              SYS_OK);
    EXPECT_EQ(kernel.cap[SLOTS_FREE + 1u].badge, 9);
    EXPECT_EQ(kernel.cap[SLOTS_FREE + 1u].rights, RIGHT_CALL);
}

TEST_F(Capabilities, X6_a_hardware_capability_allows_its_operations_alone)
{
    start();
    kernel.current = &kernel.thread[CLIENT];
    EXPECT_EQ(call(SYS_HARDWARE, SLOT_HARDWARE, HW_CONSOLE, 0x0A6968u), SYS_OK);
    EXPECT_EQ(said(), "hi\n");
    for (const uint32_t operation : {HW_CLEAN_CACHE, HW_FLUSH_CHECK, HW_LOCK_WAYS, HW_TICK}) {
        EXPECT_EQ(call(SYS_HARDWARE, SLOT_HARDWARE, operation), SYS_ERIGHTS);
    }
    EXPECT_EQ(call(SYS_HARDWARE, SLOT_HARDWARE, HW_OPERATIONS), SYS_EINVAL);
    EXPECT_EQ(fake.operations, 0u);
}

/* A tree of derivation to compare with the kernel's list. */
class Tree {
public:
    void derive(uint32_t parent, uint32_t child) { parent_of_[child] = parent; }

    void remove(uint32_t slot)
    {
        const uint32_t parent = parent_of_.at(slot);

        parent_of_.erase(slot);
        for (auto &[child, of] : parent_of_) {
            of = of == slot ? parent : of;
        }
    }

    void revoke(uint32_t slot)
    {
        std::set<uint32_t> gone;

        for (const auto &[child, parent] : parent_of_) {
            for (uint32_t at = child; at != slot && parent_of_.count(at) != 0;) {
                at = parent_of_.at(at);
                if (at == slot) {
                    gone.insert(child);
                }
            }
        }
        for (const uint32_t child : gone) {
            parent_of_.erase(child);
        }
    }

    bool has(uint32_t slot) const { return parent_of_.count(slot) != 0; }

private:
    std::map<uint32_t, uint32_t> parent_of_;
};

TEST_F(Capabilities, X6_revocation_reaches_what_was_derived_and_nothing_else)
{
    constexpr uint32_t COUNT = 40;
    std::mt19937 generator(1);
    const auto random = [&] { return static_cast<uint32_t>(generator()); };
    Tree tree;

    for (uint32_t step = 0; step < 20000; step++) {
        const uint32_t slot = SLOTS_FREE + random() % COUNT;
        const uint32_t other = random() % 8 == 0 ? SLOT_SERVE : SLOTS_FREE + random() % COUNT;
        const bool exists = other == SLOT_SERVE || tree.has(other);

        switch (random() % 8) {
        case 0:
            EXPECT_EQ(call(SYS_DELETE, slot), tree.has(slot) ? SYS_OK : SYS_ENOCAP);
            if (tree.has(slot)) {
                tree.remove(slot);
            }
            break;
        case 1:
            EXPECT_EQ(call(SYS_REVOKE, slot), tree.has(slot) ? SYS_OK : SYS_ENOCAP);
            if (tree.has(slot)) {
                tree.revoke(slot);
            }
            break;
        default:
            EXPECT_EQ(call(SYS_DELEGATE, other, SLOT_COMPONENTS + MANAGER, RIGHTS_ALL, slot),
                      !exists          ? SYS_ENOCAP
                      : tree.has(slot) ? SYS_EEXIST
                                       : SYS_OK);
            if (exists && !tree.has(slot)) {
                tree.derive(other, slot);
            }
        }
        for (uint32_t i = SLOTS_FREE; i < SLOTS_FREE + COUNT; i++) {
            ASSERT_EQ(kernel.cap[i].type != CAP_EMPTY, tree.has(i)) << "step " << step << ", slot " << i;
        }
    }
}

} // namespace
} // namespace bulkhead::test::capabilities_test
