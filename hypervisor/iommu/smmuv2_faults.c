/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of an SMMUv2, on the console core. The registers of the global space and of each context bank hold
 * one fault, and say whether there were more. So a domain has at most one refusal in each step, and hides no
 * refusal of another one. The registers of a context bank belong to one domain, whatever they say.
 */
#include "console/console.h"
#include "iommu/smmuv2_registers.h"
#include <stddef.h>

static uint32_t logged_errors; /* bits of sGFSR that have been logged */

void smmu_faults_init(void)
{
    logged_errors = 0;
}

static uint64_t read_pair(uint32_t offset)
{
    return smmu_read(offset) | (uint64_t)smmu_read(offset + 4) << 32;
}

/* A device of a domain that does not run, a stream of nobody, or an error. */
static void take_global_fault(void)
{
    uint32_t faults = smmu_read(SMMU_SGFSR);
    uint32_t errors = faults & ~(SGFSR_ICF | SGFSR_USF | FAULT_MULTI);
    struct smmu_refusal refusal = {
        .type = faults,
        .stream = SGFSYNR1_STREAM(smmu_read(SMMU_SGFSYNR1)),
        .address = read_pair(SMMU_SGFAR),
        .read = (smmu_read(SMMU_SGFSYNR0) & SGFSYNR0_WNR) == 0,
        .reason = "the domain does not run",
    };

    if (faults == 0) {
        return;
    }
    if (errors == 0) {
        smmu_count(&refusal);
    } else {
        smmu_status()->global_errors++;
        smmu_status()->last_error = faults;
        if ((errors & ~logged_errors) != 0) {
            logged_errors |= errors;
            console_log("SMMU: global error (sGFSR %x) of stream %x; counted from now on", faults,
                        refusal.stream);
        }
    }
    smmu_status()->overflows += (faults & FAULT_MULTI) != 0 ? 1 : 0;
    smmu_write(SMMU_SGFSR, faults);
}

/* NULL: a table could not be read, for example, which is not the device's fault. */
static const char *reason(uint32_t faults)
{
    return (faults & FSR_PF) != 0    ? "not writable"
           : (faults & FSR_TF) != 0  ? "not its memory"
           : (faults & FSR_AFF) != 0 ? "not accessible"
                                     : NULL;
}

static void take_fault(uint32_t bank)
{
    uint32_t faults = smmu_read(smmu_bank(bank, SMMU_CB_FSR));
    struct smmu_refusal refusal = {.type = faults, .reason = reason(faults)};

    if (faults == 0) {
        return;
    }
    refusal.stream = SGFSYNR1_STREAM(smmu_read(smmu_space1(SMMU_CBFRSYNRA(bank))));
    refusal.address = read_pair(smmu_bank(bank, SMMU_CB_FAR));
    refusal.read = (smmu_read(smmu_bank(bank, SMMU_CB_FSYNR0)) & FSYNR0_WNR) == 0;
    smmu_count(&refusal);
    smmu_status()->overflows += (faults & FAULT_MULTI) != 0 ? 1 : 0;
    smmu_write(smmu_bank(bank, SMMU_CB_FSR), faults);
}

/* One fault of each register, fewer than `most`. A later one keeps its interrupt's level. */
bool smmu_take(uint32_t most)
{
    (void)most;
    take_global_fault();
    for (uint32_t bank = 0; bank < smmu_bank_count(); bank++) {
        take_fault(bank);
    }
    return false;
}
