// SPDX-License-Identifier: Apache-2.0
//
// From the device tree's standard bindings to `struct board`. Runs on the first VCPU with the MMU off.
// A binding that is missing leaves its field empty; who needs it must cope.
#include "guests/runtime/board.h"

#include "guests/runtime/memory.h"

enum {
    path_bytes = 64,
    cells_per_interrupt = 3, // of a GIC: type, number, flags
    interrupt_is_ppi = 1,
    ppi_first_intid = 16,
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
    struct fdt_node node;

    for (unsigned n = 0; fdt_find_type(&b->fdt, "memory", n, &node); n++) {
        struct fdt_range range;
        for (uint32_t i = 0; fdt_reg(&b->fdt, &node, i, &range) && b->ram_count < BOARD_MAX_RAM; i++) {
            if (range.size != 0 && range.address + range.size > range.address)
                b->ram[b->ram_count++] = range;
        }
    }
}

static void find_cpus(struct board *b)
{
    struct fdt_node node;
    struct fdt_range reg;

    for (unsigned n = 0; b->cpu_count < BOARD_MAX_CPUS && fdt_find_type(&b->fdt, "cpu", n, &node); n++) {
        if (fdt_reg(&b->fdt, &node, 0, &reg))
            b->cpu_mpidr[b->cpu_count++] = reg.address;
    }
}

static void find_psci(struct board *b)
{
    struct fdt_node node;
    struct fdt_value method;

    if (fdt_find_path(&b->fdt, "/psci", &node) && fdt_property(&b->fdt, &node, "method", &method) &&
        fdt_has_string(&method, "smc"))
        b->psci = BOARD_PSCI_SMC;
}

// The node that /chosen/stdout-path names; options after a colon are not part of the path.
static bool find_stdout(const struct fdt *fdt, struct fdt_node *node)
{
    struct fdt_value value;
    char path[path_bytes];
    uint32_t i = 0;

    if (!fdt_find_path(fdt, "/chosen", node) || !fdt_property(fdt, node, "stdout-path", &value))
        return false;
    for (; i < value.length && i < path_bytes - 1 && value.bytes[i] != 0 && value.bytes[i] != ':'; i++)
        path[i] = (char)value.bytes[i];
    path[i] = 0;
    return path[0] == '/' && fdt_find_path(fdt, path, node);
}

static void find_uart(struct board *b)
{
    struct fdt_node node;
    struct fdt_value compatible;
    struct fdt_range reg;
    bool chosen = find_stdout(&b->fdt, &node) && fdt_property(&b->fdt, &node, "compatible", &compatible) &&
                  fdt_has_string(&compatible, "arm,pl011");

    if (!chosen && !fdt_find_compatible(&b->fdt, "arm,pl011", 0, &node))
        return;
    if (fdt_reg(&b->fdt, &node, 0, &reg))
        b->uart_base = reg.address;
}

static void find_gic(struct board *b)
{
    struct fdt_node node;

    if (!fdt_find_compatible(&b->fdt, "arm,gic-v3", 0, &node) ||
        !fdt_reg(&b->fdt, &node, 0, &b->gic_distributor) ||
        !fdt_reg(&b->fdt, &node, 1, &b->gic_redistributor))
        b->gic_distributor.size = 0;
}

static void find_timer(struct board *b)
{
    struct fdt_node node;
    struct fdt_value interrupts;
    uint32_t type;
    uint32_t number;

    b->virtual_timer_intid = virtual_timer_default_intid;
    if (fdt_find_compatible(&b->fdt, "arm,armv8-timer", 0, &node) &&
        fdt_property(&b->fdt, &node, "interrupts", &interrupts) &&
        fdt_cell(&interrupts, virtual_timer_entry * cells_per_interrupt, &type) &&
        fdt_cell(&interrupts, virtual_timer_entry * cells_per_interrupt + 1, &number) &&
        type == interrupt_is_ppi && number < 16)
        b->virtual_timer_intid = number + ppi_first_intid;
}

void board_discover(const void *blob)
{
    struct board *b = &discovered;

    b->has_fdt = (blob != NULL && fdt_open(&b->fdt, blob, FDT_MAX_BYTES)) ||
                 fdt_open(&b->fdt, memory_ram_start(), memory_ram_start_bytes());
    if (!b->has_fdt)
        return;
    find_ram(b);
    find_cpus(b);
    find_psci(b);
    find_uart(b);
    find_gic(b);
    find_timer(b);
}
