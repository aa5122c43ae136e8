/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Compares an accepted manifest with the device tree of the board that it boots on, in one pass through the
 * tree, before memory is overwritten. Called once at boot, if the loader passed a tree.
 */
#include "core/devicetree.h"
#include "core/manifest_internal.h"

#define MOST_MEMORY    16u
#define MPIDR_AFFINITY 0xFF00FFFFFFull

/* The kind of the node below the root that is being read. */
enum section { SECTION_OTHER, SECTION_CPUS, SECTION_RESERVED };

struct board_check {
    struct manifest_check check;
    const struct devicetree *tree;
    uint64_t tree_pa;
    struct devicetree_cells root_cells;
    struct devicetree_cells section_cells;
    enum section section;
    uint32_t cores_found; /* bit i: core i of the manifest was found */
    bool psci_found;
    uint32_t memory_count;
    struct devicetree_range memory[MOST_MEMORY];
};

static bool refuse_tree(struct board_check *board)
{
    return manifest_refuse(&board->check, BH_MANIFEST_ERROR_DEVICE_TREE, board->check.manifest);
}

static bool is_address_range(const struct devicetree_range *range)
{
    return range_within(range->address, range->bytes, 0, MANIFEST_PA_LIMIT);
}

/* A node without a status is in use. A node with a status other than these is absent. */
static bool is_enabled(const struct board_check *board, const struct devicetree_node *node)
{
    struct devicetree_value status;

    return !devicetree_property(board->tree, node, "status", &status) ||
           devicetree_has_string(board->tree, node, "status", "okay") ||
           devicetree_has_string(board->tree, node, "status", "ok");
}

static bool check_not_ours(struct board_check *board, const struct devicetree_range *range)
{
    uint64_t start = range->address & ~(uint64_t)(BH_PAGE_BYTES - 1);
    uint64_t end = (range->address + range->bytes + BH_PAGE_BYTES - 1) & ~(uint64_t)(BH_PAGE_BYTES - 1);
    const void *owner;

    if (!is_address_range(range)) {
        return refuse_tree(board);
    }
    if (range->bytes == 0) {
        return true;
    }
    owner = manifest_owner_of(board->check.manifest, start, end - start);
    return owner == NULL || manifest_refuse(&board->check, BH_MANIFEST_ERROR_BOARD_RESERVED, owner);
}

/* Loaders reserve the memory of the tree itself, which is not needed after this check. */
static bool is_tree_itself(const struct board_check *board, const struct devicetree_range *range)
{
    uint64_t start = board->tree_pa & ~(uint64_t)(BH_PAGE_BYTES - 1);
    uint64_t end = board->tree_pa + board->tree->total_bytes + BH_PAGE_BYTES - 1;

    end &= ~(uint64_t)(BH_PAGE_BYTES - 1);
    return range_within(range->address, range->bytes, start, end - start);
}

static bool check_reservations(struct board_check *board)
{
    struct devicetree_range range;

    for (uint32_t i = 0; devicetree_reservation(board->tree, i, &range); i++) {
        if (!is_tree_itself(board, &range) && !check_not_ours(board, &range)) {
            return false;
        }
    }
    return true;
}

static bool record_memory(struct board_check *board, const struct devicetree_node *node)
{
    struct devicetree_range range;

    for (uint32_t i = 0; devicetree_reg(board->tree, node, board->root_cells, i, &range); i++) {
        if (board->memory_count == MOST_MEMORY || !is_address_range(&range)) {
            return refuse_tree(board);
        }
        board->memory[board->memory_count++] = range;
    }
    return true;
}

/* A reserved range marked `reusable` may be used by an operating system until a driver needs it, so the
 * firmware does not occupy it. */
static bool check_reserved(struct board_check *board, const struct devicetree_node *node)
{
    struct devicetree_value value;
    struct devicetree_range range;

    if (!is_enabled(board, node) || devicetree_property(board->tree, node, "reusable", &value) ||
        devicetree_has_string(board->tree, node, "compatible", "shared-dma-pool")) {
        return true;
    }
    for (uint32_t i = 0; devicetree_reg(board->tree, node, board->section_cells, i, &range); i++) {
        if (!check_not_ours(board, &range)) {
            return false;
        }
    }
    return true;
}

static void record_core(struct board_check *board, const struct devicetree_node *node)
{
    const struct manifest_header *manifest = board->check.manifest;
    struct devicetree_range reg;

    if (!devicetree_is_named(node, "cpu") ||
        !devicetree_reg(board->tree, node, board->section_cells, 0, &reg) ||
        devicetree_has_string(board->tree, node, "status", "fail")) {
        return;
    }
    for (uint32_t i = 0; i < manifest->cpus.count; i++) {
        if (manifest_cpus(manifest)[i].mpidr == (reg.address & MPIDR_AFFINITY)) {
            board->cores_found |= 1u << i;
        }
    }
}

static bool enter_section(struct board_check *board, const struct devicetree_node *node)
{
    board->section = SECTION_OTHER;
    if (devicetree_is_named(node, "memory")) {
        return !devicetree_has_string(board->tree, node, "device_type", "memory") ||
               !is_enabled(board, node) || record_memory(board, node);
    }
    if (devicetree_is_named(node, "cpus")) {
        board->section = SECTION_CPUS;
    } else if (devicetree_is_named(node, "reserved-memory")) {
        board->section = SECTION_RESERVED;
    } else {
        return true;
    }
    board->section_cells = devicetree_cells_of(board->tree, node);
    return true;
}

static bool read_node(struct board_check *board, const struct devicetree_node *node)
{
    if (devicetree_is_named(node, "psci") &&
        (devicetree_has_string(board->tree, node, "compatible", "arm,psci-0.2") ||
         devicetree_has_string(board->tree, node, "compatible", "arm,psci-1.0"))) {
        board->psci_found = devicetree_has_string(board->tree, node, "method", "smc");
    }
    if (node->depth == 0) {
        board->root_cells = devicetree_cells_of(board->tree, node);
    } else if (node->depth == 1) {
        return enter_section(board, node);
    } else if (node->depth == 2 && board->section == SECTION_CPUS) {
        record_core(board, node);
    } else if (node->depth == 2 && board->section == SECTION_RESERVED) {
        return check_reserved(board, node);
    }
    return true;
}

static bool read_tree(struct board_check *board)
{
    struct devicetree_walk walk = {0, 0};
    struct devicetree_node node;
    enum devicetree_step step;

    while ((step = devicetree_next(board->tree, &walk, &node)) == DEVICETREE_NODE) {
        if (!read_node(board, &node)) {
            return false;
        }
    }
    return step == DEVICETREE_END || refuse_tree(board);
}

static const struct devicetree_range *memory_at(const struct board_check *board, uint64_t pa)
{
    for (uint32_t i = 0; i < board->memory_count; i++) {
        if (pa >= board->memory[i].address && pa - board->memory[i].address < board->memory[i].bytes) {
            return &board->memory[i];
        }
    }
    return NULL;
}

/* Address of the first granule of the range at or after `pa`. */
static uint64_t next_of(const struct color_range *range, uint64_t pa)
{
    uint64_t granule = color_granule_bytes(range->space);
    paddr_t next;

    if (range->space.bits == 0) {
        return pa;
    }
    if (!color_next(range->space, range->set, paddr(pa & ~(granule - 1)), &next)) {
        return UINT64_MAX;
    }
    return next.value < pa ? pa : next.value;
}

/* Pieces of memory may be adjacent or leave holes, in any order. Only the addresses that hold granules of the
 * range count. */
static bool check_memory(struct board_check *board, const struct color_range *range, uint64_t bytes,
                         const void *place)
{
    uint64_t end = color_end(range, bytes).value;
    uint64_t pa = range->first.value;

    while (pa < end) {
        const struct devicetree_range *piece = memory_at(board, pa);

        if (piece == NULL) {
            return manifest_refuse(&board->check, BH_MANIFEST_ERROR_BOARD_MEMORY, place);
        }
        pa = next_of(range, piece->address + piece->bytes);
    }
    return true;
}

static bool check_all_memory(struct board_check *board)
{
    const struct manifest_header *manifest = board->check.manifest;
    struct color_range range = manifest_pool_range(manifest);

    if (!check_memory(board, &range, manifest->hypervisor.pool_bytes, &manifest->hypervisor.pool_pa)) {
        return false;
    }
    if (manifest_tables_range(manifest, &range) &&
        !check_memory(board, &range, manifest->tables.colored_bytes, &manifest->tables.colored_pa)) {
        return false;
    }
    for (uint32_t i = 0; i < manifest->segments.count; i++) {
        const struct manifest_segment *segment = &manifest_segments(manifest)[i];

        range = manifest_segment_range(manifest, segment);
        if (!check_memory(board, &range, segment->bytes, &segment->pa)) {
            return false;
        }
    }
    return true;
}

static bool check_cores(struct board_check *board)
{
    const struct manifest_header *manifest = board->check.manifest;

    for (uint32_t i = 0; i < manifest->cpus.count; i++) {
        if ((board->cores_found & 1u << i) == 0) {
            return manifest_refuse(&board->check, BH_MANIFEST_ERROR_BOARD_CORE, &manifest_cpus(manifest)[i]);
        }
    }
    return true;
}

static bool check_psci(struct board_check *board)
{
    const struct manifest_platform *platform = &board->check.manifest->platform;

    return board->psci_found || platform->psci_method == BH_PSCI_METHOD_NONE ||
           manifest_refuse(&board->check, BH_MANIFEST_ERROR_BOARD_PSCI, &platform->psci_method);
}

struct manifest_verdict manifest_check_board(const struct manifest_header *manifest,
                                             const struct devicetree *tree, uint64_t tree_pa)
{
    struct board_check board = {
        .check = {.manifest = manifest, .verdict = {BH_MANIFEST_ERROR_NONE, 0}},
        .tree = tree,
        .tree_pa = tree_pa,
    };

    if (check_reservations(&board) && read_tree(&board) && check_psci(&board) && check_cores(&board)) {
        (void)check_all_memory(&board);
    }
    return board.check.verdict;
}
