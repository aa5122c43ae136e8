// SPDX-License-Identifier: Apache-2.0
// Target `devicetree`: any bytes as the device tree that a boot loader passes: every look-up of core's
// reader, the hypervisor's comparison of the board with a manifest, and the searches of the guests' runtime.
// The header's magic is corrected. The blob is a heap block of exactly its size: the address sanitizer
// detects a read outside.
#include "require.h"

#include "core/devicetree.h"
#include "core/manifest.h"
#include "sample_manifest.h"

#include <algorithm>
#include <cstring>
#include <memory>

extern "C" {
#include "guests/runtime/devicetree.h"
}

namespace {

using bulkhead_fuzz::require;

constexpr uint64_t tree_pa = 0x4A000000;
constexpr const char *names[] = {"reg", "compatible", "status", "device_type", "period_us", ""};

bool is_inside(const struct devicetree &tree, const void *start, size_t bytes)
{
    const auto *at = static_cast<const uint8_t *>(start);

    return at >= tree.blob && bytes <= tree.total_bytes &&
           static_cast<size_t>(at - tree.blob) <= tree.total_bytes - bytes;
}

void look_at(const struct devicetree &tree, const struct devicetree_node &node)
{
    struct devicetree_value value;
    struct devicetree_range range;
    uint64_t number;

    require(node.depth <= DEVICETREE_MAX_DEPTH, "a node deeper than trees are");
    require(is_inside(tree, node.name, std::strlen(node.name) + 1), "a name outside of the tree");
    for (const char *name : names) {
        if (!devicetree_property(&tree, &node, name, &value)) {
            continue;
        }
        require(is_inside(tree, value.bytes, value.length), "a value outside of the tree");
        (void)devicetree_value_has(&value, "okay");
        for (uint32_t cells : {1u, 2u, 3u}) {
            (void)devicetree_number(&value, 0, cells, &number);
            (void)devicetree_number(&value, 0xFFFFFFFF, cells, &number);
        }
    }
    const struct devicetree_cells cells = devicetree_cells_of(&tree, &node);
    for (uint32_t index : {0u, 1u, 0x40000000u, 0xFFFFFFFFu}) {
        (void)devicetree_reg(&tree, &node, cells, index, &range);
    }
    (void)devicetree_is_named(&node, "cpus");
}

void read_as_hypervisor(const struct devicetree &tree)
{
    static const std::unique_ptr<SampleManifest> sample = make_sample_manifest();
    struct devicetree_walk walk = {0, 0};
    struct devicetree_node node;
    struct devicetree_range range;
    uint32_t nodes = 0;

    while (devicetree_next(&tree, &walk, &node) == DEVICETREE_NODE) {
        /* Token, name and padding; the padding of the last can be cut off. */
        require(++nodes <= (tree.structure_bytes + 7) / 8, "more nodes than there is room for");
        look_at(tree, node);
    }
    for (uint32_t i = 0; devicetree_reservation(&tree, i, &range); i++) {
        require(i < tree.total_bytes / 16, "more reservations than there is room for");
    }
    const manifest_verdict verdict = manifest_check_board(&sample->header, &tree, tree_pa);
    require(verdict.offset < sizeof *sample, "the place of an error is outside of the manifest");
}

void read_as_guest(const uint8_t *blob, size_t bytes)
{
    struct dt tree;
    struct dt_node node;
    struct dt_value value;
    struct dt_range range;
    uint64_t number;

    if (!dt_open(&tree, blob, bytes)) {
        return;
    }
    for (const char *path : {"/", "/bulkhead", "/soc/serial", "/cpus/cpu@1", "/none/at/all"}) {
        if (dt_find_path(&tree, path, &node) && dt_property(&tree, &node, "reg", &value)) {
            (void)dt_number(&value, &number);
            (void)dt_has_string(&value, "arm,pl011");
            (void)dt_reg(&tree, &node, 1, &range);
        }
    }
    for (unsigned n = 0; n < 4 && dt_find_type(&tree, "cpu", n, &node); n++) {
        (void)dt_reg(&tree, &node, 0, &range);
    }
    (void)dt_find_compatible(&tree, "arm,pl011", 0, &node);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    constexpr uint8_t magic[] = {0xD0, 0x0D, 0xFE, 0xED};
    struct devicetree tree;

    if (bytes < DEVICETREE_HEADER_BYTES) {
        return 0;
    }
    auto blob = std::make_unique<uint8_t[]>(bytes);
    std::copy(data, data + bytes, blob.get());
    std::copy(std::begin(magic), std::end(magic), blob.get());
    if (devicetree_open(&tree, blob.get(), static_cast<uint32_t>(bytes))) {
        read_as_hypervisor(tree);
    }
    read_as_guest(blob.get(), bytes);
    return 0;
}
