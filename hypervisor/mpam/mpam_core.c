/* SPDX-License-Identifier: Apache-2.0
 *
 * MPAM of the cores. Guests' accesses to MPAM registers trap on every core that has MPAM, also if the
 * manifest has no components.
 */
#include "mpam/mpam_core.h"
#include "console/console.h"
#include "core/mpam_label.h"
#include "mpam/mpam_labels.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <arch/mpam.h>
#include <arch/sysreg.h>

#define FIELD       0xFull
#define GUEST_TRAPS (MPAM2_TRAP_MPAM0 | MPAM2_TRAP_MPAM1)

static struct {
    enum bh_mpam_state state;
    uint32_t version;
    uint64_t ids;     /* MPAMIDR_EL1 */
    uint64_t own;     /* MPAM2_EL2 without the traps */
    uint64_t trap_id; /* trap of MPAMIDR_EL1 in MPAM2_EL2, if it exists */
} mpam;

static uint32_t version_of_core(void)
{
    return (uint32_t)((sysreg_read(ID_AA64PFR0_EL1) >> MPAM_PFR0_SHIFT & FIELD) << 4 |
                      (sysreg_read(ID_AA64PFR1_EL1) >> MPAM_PFR1_FRAC_SHIFT & FIELD));
}

static bool has_components(void)
{
    return system_manifest()->mpam_components.count != 0;
}

/* If firmware has turned MPAM off for lower exception levels, MPAM2_EL2.MPAMEN stays 0. */
static bool can_enable(void)
{
    sysreg_write(MPAM2_EL2, mpam.own);
    arch_isb();
    return (sysreg_read(MPAM2_EL2) & MPAM_ENABLE) != 0;
}

static enum bh_mpam_state detect(void)
{
    const struct manifest_mpam *config = &system_manifest()->mpam;

    if (mpam.version == 0) {
        return BH_MPAM_STATE_ABSENT;
    }
    if (!arch_mpam_probe()) {
        return BH_MPAM_STATE_FIRMWARE;
    }
    mpam.ids = sysreg_read(MPAMIDR_EL1);
    mpam.trap_id = (mpam.ids & MPAMIDR_HAS_TIDR) != 0 ? MPAM2_TRAP_IDR : 0;
    mpam.own = MPAM_ENABLE | mpam_label(config->partid, config->pmg);
    if (!has_components()) {
        return BH_MPAM_STATE_UNASKED;
    }
    return can_enable() ? BH_MPAM_STATE_ENABLED : BH_MPAM_STATE_FIRMWARE;
}

void mpam_detect(void)
{
    mpam.version = version_of_core();
    mpam.ids = 0;
    mpam.own = 0;
    mpam.trap_id = 0;
    mpam.state = detect();
    if (mpam.state == BH_MPAM_STATE_FIRMWARE) {
        console_log("MPAM: disabled by EL3 (MPAM3_EL3)%s",
                    has_components() ? ", nothing is partitioned" : "");
        mpam.own = 0;
    }
}

enum bh_mpam_state mpam_state(void)
{
    return mpam.state;
}

uint32_t mpam_version(void)
{
    return mpam.version;
}

uint64_t mpam_core_ids(void)
{
    return mpam.ids;
}

uint64_t mpam_own_control(void)
{
    return mpam.own | mpam.trap_id;
}

void mpam_keep_from_guests(void)
{
    sysreg_write(MPAM2_EL2, mpam.own | mpam.trap_id | GUEST_TRAPS);
    if ((mpam.ids & MPAMIDR_HAS_HCR) != 0) {
        sysreg_write(MPAMHCR_EL2, MPAMHCR_TRAP_IDR);
    }
}

bool mpam_core_init(void)
{
    if (version_of_core() != mpam.version) {
        return false;
    }
    if (mpam.state == BH_MPAM_STATE_ABSENT || mpam.state == BH_MPAM_STATE_FIRMWARE) {
        return true;
    }
    if (!arch_mpam_probe() || sysreg_read(MPAMIDR_EL1) != mpam.ids) {
        return false;
    }
    mpam_keep_from_guests();
    if ((mpam.ids & MPAMIDR_HAS_HCR) != 0) {
        sysreg_write(MPAMVPMV_EL2, 0);
    }
    if ((mpam.ids & MPAMIDR_HAS_BW_CTRL) != 0) { /* nTRAP bits are 0: guests' accesses trap */
        sysreg_write(MPAMBW2_EL2, 0);
    }
    sysreg_write(MPAM1_EL1, mpam.own & MPAM_LABEL);
    sysreg_write(MPAM0_EL1, mpam.own & MPAM_LABEL);
    arch_isb();
    return mpam.state != BH_MPAM_STATE_ENABLED || (sysreg_read(MPAM2_EL2) & MPAM_ENABLE) != 0;
}
