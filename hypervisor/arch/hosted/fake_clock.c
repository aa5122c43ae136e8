/* SPDX-License-Identifier: Apache-2.0
 *
 * The counter, whose value tests set in the fake registers.
 */
#include "fake_clock.h"
#include "fake_registers.h"

void fake_clock_set(uint64_t ticks)
{
    for (uint32_t core = 0; core < FAKE_CORES; core++) {
        fake_set_core_sysreg(core, SYSREG_ID_CNTPCT_EL0, ticks);
    }
}
