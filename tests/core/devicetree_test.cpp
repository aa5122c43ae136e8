// SPDX-License-Identifier: Apache-2.0
// Reading a device tree: the reader finds what libfdt has written, node by node.
#include "board_tree.h"
#include "core/devicetree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace devicetree_test {
namespace {

class DeviceTree : public testing::Test {
protected:
    // The node of that name below `parent`, found by a walk through the whole tree.
    devicetree_node find(const std::string &name)
    {
        devicetree_walk walk{};
        devicetree_node node{};
        while (devicetree_next(&tree, &walk, &node) == DEVICETREE_NODE) {
            if (node.name == name)
                return node;
        }
        ADD_FAILURE() << name << " not found";
        return {};
    }

    void SetUp() override { ASSERT_TRUE(devicetree_open(&tree, blob.data(), blob.size())); }

    BoardTree board{.memory = {{{0x40000000, 0x10000000}, {0x880000000, 0x1000}}},
                    .reservations = {{0x1000, 0x2000}, {0x123456789, 0x10}}};
    ExactBytes blob{board.make()};
    devicetree tree{};
};

TEST_F(DeviceTree, VisitsParentsBeforeChildrenAndEnds)
{
    devicetree_walk walk{};
    devicetree_node node{};
    std::vector<std::pair<std::string, uint32_t>> seen;
    enum devicetree_step step;

    while ((step = devicetree_next(&tree, &walk, &node)) == DEVICETREE_NODE)
        seen.emplace_back(node.name, node.depth);
    EXPECT_EQ(step, DEVICETREE_END);
    EXPECT_THAT(seen,
                testing::ElementsAre(std::pair{"", 0u}, std::pair{"reserved-memory", 1u},
                                     std::pair{"memory@1073741824", 1u}, std::pair{"soc", 1u},
                                     std::pair{"memory@0", 2u}, std::pair{"cpus", 2u}, std::pair{"cpu@7", 3u},
                                     std::pair{"cpus", 1u}, std::pair{"cpu-map", 2u}, std::pair{"cpu@0", 2u},
                                     std::pair{"cpu@1", 2u}, std::pair{"cpu@2", 2u}, std::pair{"cpu@3", 2u},
                                     std::pair{"psci", 1u}, std::pair{"chosen", 1u}));
}

TEST_F(DeviceTree, FindsPropertiesOfTheNodeItselfOnly)
{
    devicetree_node soc = find("soc");
    devicetree_value value;

    EXPECT_TRUE(devicetree_property(&tree, &soc, "#size-cells", &value));
    EXPECT_EQ(value.length, 4u);
    EXPECT_FALSE(devicetree_property(&tree, &soc, "device_type", &value)) << "is its child's";
    EXPECT_FALSE(devicetree_property(&tree, &soc, "#size-cell", &value)) << "only a part of the name";
}

TEST_F(DeviceTree, ComparesWholeStrings)
{
    devicetree_node psci = find("psci");

    EXPECT_TRUE(devicetree_has_string(&tree, &psci, "method", "smc"));
    EXPECT_FALSE(devicetree_has_string(&tree, &psci, "method", "sm"));
    EXPECT_FALSE(devicetree_has_string(&tree, &psci, "method", "smcc"));
    EXPECT_FALSE(devicetree_has_string(&tree, &psci, "none", "smc"));
    EXPECT_TRUE(devicetree_is_named(&psci, "psci"));
    EXPECT_FALSE(devicetree_is_named(&psci, "psc"));
    devicetree_node memory = find("memory@1073741824");
    EXPECT_TRUE(devicetree_is_named(&memory, "memory"));
    EXPECT_FALSE(devicetree_is_named(&memory, "memory@"));
}

TEST_F(DeviceTree, ReadsRangesByTheParentsCells)
{
    devicetree_node root = find("");
    devicetree_node memory = find("memory@1073741824");
    devicetree_cells cells = devicetree_cells_of(&tree, &root);
    devicetree_range range;

    EXPECT_EQ(cells.address, 2u);
    EXPECT_EQ(cells.size, 2u);
    ASSERT_TRUE(devicetree_reg(&tree, &memory, cells, 0, &range));
    EXPECT_EQ(range.address, 0x40000000u);
    EXPECT_EQ(range.bytes, 0x10000000u);
    ASSERT_TRUE(devicetree_reg(&tree, &memory, cells, 1, &range));
    EXPECT_EQ(range.address, 0x880000000u);
    for (uint32_t index : {2u, 0x10000000u, 0x40000000u, UINT32_MAX})
        EXPECT_FALSE(devicetree_reg(&tree, &memory, cells, index, &range)) << index;
    EXPECT_FALSE(devicetree_reg(&tree, &memory, {3, 2}, 0, &range)) << "more than 64 bits";
    EXPECT_FALSE(devicetree_reg(&tree, &memory, {0, 2}, 0, &range)) << "no address at all";
}

TEST_F(DeviceTree, CellsHaveTheSpecificationsDefaults)
{
    devicetree_node psci = find("psci");
    devicetree_cells cells = devicetree_cells_of(&tree, &psci);

    EXPECT_EQ(cells.address, 2u);
    EXPECT_EQ(cells.size, 1u);
}

TEST_F(DeviceTree, ReadsReservationsToTheirEnd)
{
    devicetree_range range;

    ASSERT_TRUE(devicetree_reservation(&tree, 1, &range));
    EXPECT_EQ(range.address, 0x123456789u);
    EXPECT_EQ(range.bytes, 0x10u);
    EXPECT_FALSE(devicetree_reservation(&tree, 2, &range));
    EXPECT_FALSE(devicetree_reservation(&tree, UINT32_MAX, &range));
}

} // namespace
} // namespace devicetree_test
