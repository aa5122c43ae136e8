/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Two free-running counters, busy cycles and all cycles, and a register that clears and starts them: by
 * default those of the MMDC of i.MX 6 and S32V234 (i.MX 6 reference manual, MMDC profiling: MADPCR0, MADPSR0,
 * MADPSR1); parameters select others. No other software may use them meanwhile.
 */
#include "utilization_source.h"
#include <linux/io.h>
#include <linux/module.h>

#define REGISTER_BYTES 4u
#define MAX_OFFSET     0xFFFCu

static unsigned long utilization;
module_param(utilization, ulong, 0444);
MODULE_PARM_DESC(utilization, "physical address of the memory controller's registers; 0: none are known");
static uint utilization_control = 0x410;
module_param(utilization_control, uint, 0444);
MODULE_PARM_DESC(utilization_control, "offset of the register that clears and starts the counters");
static uint utilization_clear = 2;
module_param(utilization_clear, uint, 0444);
MODULE_PARM_DESC(utilization_clear, "value that clears them");
static uint utilization_enable = 1;
module_param(utilization_enable, uint, 0444);
MODULE_PARM_DESC(utilization_enable, "value that starts them");
static uint utilization_cycles = 0x418;
module_param(utilization_cycles, uint, 0444);
MODULE_PARM_DESC(utilization_cycles, "offset of the count of all cycles");
static uint utilization_busy = 0x41C;
module_param(utilization_busy, uint, 0444);
MODULE_PARM_DESC(utilization_busy, "offset of the count of busy cycles");
static uint utilization_bits = 32;
module_param(utilization_bits, uint, 0444);
MODULE_PARM_DESC(utilization_bits, "width of the counts, 8 to 32");

static void __iomem *registers;
static struct utilization_meter meter;

static bool offset_is_good(uint offset)
{
    return offset % REGISTER_BYTES == 0 && offset <= MAX_OFFSET;
}

int utilization_source_open(void)
{
    uint last = max3(utilization_control, utilization_cycles, utilization_busy);
    u32 unused;

    if (utilization == 0) {
        return 0;
    }
    if (!offset_is_good(utilization_control) || !offset_is_good(utilization_cycles) ||
        !offset_is_good(utilization_busy) || utilization % REGISTER_BYTES != 0 ||
        utilization > ULONG_MAX - last - REGISTER_BYTES || utilization_bits < EVENT_COUNTER_MIN_BITS ||
        utilization_bits > 32) {
        pr_err("utilization: an address or a width is out of range\n");
        return -EINVAL;
    }
    registers = ioremap(utilization, last + REGISTER_BYTES);
    if (registers == NULL) {
        pr_err("utilization: there are no registers at %#lx\n", utilization);
        return -ENOMEM;
    }
    meter = (struct utilization_meter){{utilization_bits, 0}, {utilization_bits, 0}, false};
    writel(utilization_clear, registers + utilization_control);
    writel(utilization_enable, registers + utilization_control);
    (void)utilization_source_measure(&unused);
    return 0;
}

void utilization_source_close(void)
{
    if (registers != NULL) {
        iounmap(registers);
        registers = NULL;
    }
}

bool utilization_source_is_there(void)
{
    return registers != NULL;
}

/* Busy cycles are read first: the cycles between the two reads make the load look lower by nanoseconds, not
 * higher. */
bool utilization_source_measure(u32 *utilization_now)
{
    u32 busy;

    if (registers == NULL) {
        return false;
    }
    busy = readl(registers + utilization_busy);
    return utilization_measure(&meter, busy, readl(registers + utilization_cycles), utilization_now);
}
