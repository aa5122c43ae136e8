/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of an SMMUv2, on the console core. The registers of the global space and of each context bank hold
 * one fault, and say whether there were more. A context bank is used by one domain, whatever its registers
 * say. So a domain that runs has at most one refusal in each step, and hides no refusal of another domain
 * that runs. The registers of the global space hold one fault of all domains that do not run and of all
 * streams of nobody.
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

/* Clears the faults that were read, and MULTI: a fault after the reading may have set MULTI, which would keep
 * the next fault from being recorded. Such a fault is in no count. */
static void clear(uint32_t offset, uint32_t faults)
{
    smmu_status()->overflows += (faults & FAULT_MULTI) != 0 ? 1 : 0;
    smmu_write(offset, faults | FAULT_MULTI);
}

/* A device of a domain that does not run, a stream of nobody, or an error. */
static void take_global_fault(void)
{
    uint32_t faults = smmu_read(SMMU_SGFSR);
    uint32_t causes = faults & SGFSR_CAUSES;
    uint32_t errors = causes & ~(SGFSR_ICF | SGFSR_USF);
    struct smmu_refusal refusal = {
        .type = causes,
        .stream = SGFSYNR1_STREAM(smmu_read(SMMU_SGFSYNR1)),
        .domain = SMMU_OF_STREAM,
        .address = read_pair(SMMU_SGFAR),
        .read = (smmu_read(SMMU_SGFSYNR0) & SGFSYNR0_WNR) == 0,
        .reason = "the domain does not run",
    };

    if (errors == 0 && causes != 0) {
        smmu_count(&refusal);
    } else if (errors != 0) {
        smmu_status()->global_errors++;
        smmu_status()->last_error = causes;
        if ((errors & ~logged_errors) != 0) {
            logged_errors |= errors;
            console_log("SMMU: global error (sGFSR %x) of stream %x; counted from now on", causes,
                        refusal.stream);
        }
    }
    if (faults != 0) {
        clear(SMMU_SGFSR, faults);
    }
}

/* NULL: a table could not be read, for example, which is not the device's fault. */
static const char *reason(uint32_t faults)
{
    return (faults & FSR_PF) != 0    ? "not writable"
           : (faults & FSR_TF) != 0  ? "not its memory"
           : (faults & FSR_AFF) != 0 ? "not accessible"
           : (faults & FSR_ASF) != 0 ? "address too large"
                                     : NULL;
}

static void take_fault(uint32_t bank)
{
    uint32_t faults = smmu_read(smmu_bank(bank, SMMU_CB_FSR));
    struct smmu_refusal refusal = {
        .type = faults & FSR_CAUSES,
        .domain = smmu_bank_domain(bank),
        .reason = reason(faults),
    };

    if ((faults & (FSR_CAUSES | FAULT_MULTI)) == 0) {
        return;
    }
    if (refusal.type != 0) {
        refusal.stream = SGFSYNR1_STREAM(smmu_read(smmu_space1(SMMU_CBFRSYNRA(bank))));
        refusal.address = read_pair(smmu_bank(bank, SMMU_CB_FAR));
        refusal.read = (smmu_read(smmu_bank(bank, SMMU_CB_FSYNR0)) & FSYNR0_WNR) == 0;
        smmu_count(&refusal);
    }
    clear(smmu_bank(bank, SMMU_CB_FSR), faults);
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
