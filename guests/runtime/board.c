// SPDX-License-Identifier: Apache-2.0
//
// From the device tree's standard bindings to `struct board`. Runs on the first VCPU with the MMU off. A
// missing binding leaves its field empty; the code that uses the field must handle that.
#include "guests/runtime/board.h"

#include "guests/runtime/memory.h"

enum {
    path_bytes = 64,
    cells_per_interrupt = 3, // of a GIC: type, number, flags
    interrupt_is_spi = 0,
    interrupt_is_ppi = 1,
    ppi_first_intid = 16,
    spi_first_intid = 32,
    spi_count = 988,
    virtual_timer_entry = 2, // arm,armv8-timer: secure, non-secure, virtual, hypervisor
    virtual_timer_default_intid = 27,
};

static struct board discovered;

const struct board *board(void)
{
    return &discovered;
}

static void find_ram(struct board *b)
{
    struct dt_node node;

    for (unsigned n = 0; dt_find_type(&b->tree, "memory", n, &node); n++) {
        struct dt_range range;
        for (uint32_t i = 0; dt_reg(&b->tree, &node, i, &range) && b->ram_count < BOARD_MAX_RAM; i++) {
            if (range.size != 0 && range.address + range.size > range.address)
                b->ram[b->ram_count++] = range;
        }
    }
}

static void find_cpus(struct board *b)
{
    struct dt_node node;
    struct dt_range reg;

    for (unsigned n = 0; b->cpu_count < BOARD_MAX_CPUS && dt_find_type(&b->tree, "cpu", n, &node); n++) {
        if (dt_reg(&b->tree, &node, 0, &reg))
            b->cpu_mpidr[b->cpu_count++] = reg.address;
    }
}

static void find_psci(struct board *b)
{
    struct dt_node node;
    struct dt_value method;

    if (dt_find_path(&b->tree, "/psci", &node) && dt_property(&b->tree, &node, "method", &method) &&
        dt_has_string(&method, "smc"))
        b->psci = BOARD_PSCI_SMC;
}

// The node that /chosen/stdout-path names; options after a colon are not part of the path.
static bool find_stdout(const struct dt *tree, struct dt_node *node)
{
    struct dt_value value;
    char path[path_bytes];
    uint32_t i = 0;

    if (!dt_find_path(tree, "/chosen", node) || !dt_property(tree, node, "stdout-path", &value))
        return false;
    for (; i < value.length && i < path_bytes - 1 && value.bytes[i] != 0 && value.bytes[i] != ':'; i++)
        path[i] = (char)value.bytes[i];
    path[i] = 0;
    return path[0] == '/' && dt_find_path(tree, path, node);
}

static void find_uart(struct board *b)
{
    struct dt_node node;
    struct dt_value compatible;
    struct dt_value interrupts;
    struct dt_range reg;
    uint32_t type;
    uint32_t number;
    bool chosen = find_stdout(&b->tree, &node) && dt_property(&b->tree, &node, "compatible", &compatible) &&
                  dt_has_string(&compatible, "arm,pl011");

    if (!chosen && !dt_find_compatible(&b->tree, "arm,pl011", 0, &node))
        return;
    if (dt_reg(&b->tree, &node, 0, &reg))
        b->uart_base = reg.address;
    if (dt_property(&b->tree, &node, "interrupts", &interrupts) && dt_cell(&interrupts, 0, &type) &&
        dt_cell(&interrupts, 1, &number) && type == interrupt_is_spi && number < spi_count)
        b->uart_intid = number + spi_first_intid;
}

// Finds the two frames of a version, or neither.
static bool find_gic_of(struct board *b, const char *compatible, struct dt_range *second)
{
    struct dt_node node;

    if (dt_find_compatible(&b->tree, compatible, 0, &node) &&
        dt_reg(&b->tree, &node, 0, &b->gic_distributor) && dt_reg(&b->tree, &node, 1, second))
        return true;
    b->gic_distributor.size = 0;
    second->size = 0;
    return false;
}

static void find_gic(struct board *b)
{
    if (!find_gic_of(b, "arm,gic-v3", &b->gic_redistributor) &&
        !find_gic_of(b, "arm,gic-400", &b->gic_interface))
        (void)find_gic_of(b, "arm,cortex-a15-gic", &b->gic_interface);
}

static void find_timer(struct board *b)
{
    struct dt_node node;
    struct dt_value interrupts;
    uint32_t type;
    uint32_t number;

    b->virtual_timer_intid = virtual_timer_default_intid;
    if (dt_find_compatible(&b->tree, "arm,armv8-timer", 0, &node) &&
        dt_property(&b->tree, &node, "interrupts", &interrupts) &&
        dt_cell(&interrupts, virtual_timer_entry * cells_per_interrupt, &type) &&
        dt_cell(&interrupts, virtual_timer_entry * cells_per_interrupt + 1, &number) &&
        type == interrupt_is_ppi && number < 16)
        b->virtual_timer_intid = number + ppi_first_intid;
}

static void find_socket_pool(struct board *b)
{
    struct dt_node node;

    if (!dt_find_compatible(&b->tree, "restricted-dma-pool", 0, &node) ||
        !dt_reg(&b->tree, &node, 0, &b->socket_pool))
        b->socket_pool.size = 0;
}

void board_discover(const void *blob)
{
    struct board *b = &discovered;

    b->has_tree = (blob != NULL && dt_open(&b->tree, blob, DT_MAX_BYTES)) ||
                  dt_open(&b->tree, memory_ram_start(), memory_ram_start_bytes());
    if (!b->has_tree)
        return;
    find_ram(b);
    find_cpus(b);
    find_psci(b);
    find_uart(b);
    find_gic(b);
    find_timer(b);
    find_socket_pool(b);
}
