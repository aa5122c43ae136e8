// SPDX-License-Identifier: Apache-2.0
//
// The guests' device-tree reader finds all that is in the tree, with the right cell counts, and nothing else.
extern "C" {
#include "guests/runtime/devicetree.h"
}

#include <gtest/gtest.h>

#include <string>

#include "tree.h"

namespace devicetree_test {
namespace {

class Tree : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(dt_open(&fdt, blob.data(), blob.size())); }

    uint64_t number(const char *path, const char *property)
    {
        dt_node node;
        dt_value value;
        uint64_t result = 0;
        EXPECT_TRUE(dt_find_path(&fdt, path, &node)) << path;
        EXPECT_TRUE(dt_property(&fdt, &node, property, &value)) << property;
        EXPECT_TRUE(dt_number(&value, &result));
        return result;
    }

    tree::Blob blob{tree::guest()};
    struct dt fdt = {};
};

TEST_F(Tree, PathFindsTheNodeAtItsDepthOnly)
{
    EXPECT_EQ(number("/bulkhead", "period_us"), 500u);
    EXPECT_EQ(number("/soc/bulkhead", "period_us"), 1u);
    EXPECT_EQ(number("/bulkhead-other", "period_us"), 2u);
}

TEST_F(Tree, PathComponentMatchesWithAndWithoutUnitAddress)
{
    dt_node node;
    ASSERT_TRUE(dt_find_path(&fdt, "/soc/serial", &node));
    EXPECT_STREQ(node.name, "serial@9000000");
    EXPECT_TRUE(dt_find_path(&fdt, "/soc/serial@9000000", &node));
    EXPECT_FALSE(dt_find_path(&fdt, "/soc/serial@9000001", &node));
    EXPECT_FALSE(dt_find_path(&fdt, "/soc/seri", &node));
    EXPECT_FALSE(dt_find_path(&fdt, "/serial", &node));
    EXPECT_FALSE(dt_find_path(&fdt, "/soc/cpus", &node));
}

TEST_F(Tree, RootHasAnEmptyName)
{
    dt_node node;
    ASSERT_TRUE(dt_find_path(&fdt, "/", &node));
    EXPECT_STREQ(node.name, "");
}

TEST_F(Tree, RegFollowsTheParentsCells)
{
    dt_node node;
    dt_range range;
    ASSERT_TRUE(dt_find_compatible(&fdt, "arm,primecell", 0, &node));
    ASSERT_TRUE(dt_reg(&fdt, &node, 0, &range));
    EXPECT_EQ(range.address, 0x09000000u);
    EXPECT_EQ(range.size, 0x1000u);
    ASSERT_TRUE(dt_find_type(&fdt, "memory", 0, &node));
    ASSERT_TRUE(dt_reg(&fdt, &node, 1, &range));
    EXPECT_EQ(range.address, 0x880000000u);
    EXPECT_EQ(range.size, 0x100000000u);
    EXPECT_FALSE(dt_reg(&fdt, &node, 2, &range));
    EXPECT_FALSE(dt_reg(&fdt, &node, UINT32_MAX, &range));
}

TEST_F(Tree, NodesOfATypeComeInTreeOrder)
{
    std::vector<uint64_t> found;
    dt_node node;
    dt_range range;
    for (unsigned n = 0; dt_find_type(&fdt, "cpu", n, &node); n++) {
        ASSERT_TRUE(dt_reg(&fdt, &node, 0, &range));
        EXPECT_EQ(range.size, 0u);
        found.push_back(range.address);
    }
    EXPECT_EQ(found, (std::vector<uint64_t>{0, 1, 0x100}));
}

TEST_F(Tree, CompatibleComparesWholeStrings)
{
    dt_node node;
    EXPECT_TRUE(dt_find_compatible(&fdt, "arm,pl011", 0, &node));
    EXPECT_FALSE(dt_find_compatible(&fdt, "arm,pl011", 1, &node));
    EXPECT_FALSE(dt_find_compatible(&fdt, "arm,pl01", 0, &node));
    EXPECT_FALSE(dt_find_compatible(&fdt, "pl011", 0, &node));
}

TEST_F(Tree, NumbersAreOneOrTwoCells)
{
    dt_node node;
    dt_value value;
    uint64_t ignored;
    EXPECT_EQ(number("/bulkhead", "short"), 7u);
    EXPECT_EQ(number("/bulkhead", "address"), 0x2000000010u);
    ASSERT_TRUE(dt_find_path(&fdt, "/bulkhead", &node));
    ASSERT_TRUE(dt_property(&fdt, &node, "empty", &value));
    EXPECT_EQ(value.length, 0u);
    EXPECT_FALSE(dt_number(&value, &ignored));
    ASSERT_TRUE(dt_find_type(&fdt, "memory", 0, &node));
    ASSERT_TRUE(dt_property(&fdt, &node, "reg", &value));
    EXPECT_FALSE(dt_number(&value, &ignored));
}

TEST_F(Tree, PropertyOfAChildIsNotTheNodesOwn)
{
    dt_node node;
    dt_value value;
    ASSERT_TRUE(dt_find_path(&fdt, "/soc", &node));
    EXPECT_FALSE(dt_property(&fdt, &node, "compatible", &value));
    EXPECT_FALSE(dt_property(&fdt, &node, "period_us", &value));
}

} // namespace
} // namespace devicetree_test
