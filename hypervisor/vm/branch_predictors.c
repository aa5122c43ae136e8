/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the protection that a core needs against attacks on its branch predictors. The ID registers (DDI
 * 0487) say so, or on older cores the core's type: see Arm's security bulletins "Cache Speculation
 * Side-channels" and "Spectre-BHB".
 */
#include "vm/branch_predictors.h"
#include "vm/cpu.h"
#include "vm/system.h"
#include <arch/smc.h>
#include <arch/speculation.h>
#include <arch/sysreg.h>

#define PSCI_FEATURES       0x8400000Au
#define SMCCC_VERSION       0x80000000u
#define SMCCC_ARCH_FEATURES 0x80000001u
#define SMCCC_1_1           0x10001
#define NOT_REQUIRED        (-2) /* by SMCCC_ARCH_WORKAROUND_2: not needed, or permanently enabled */

#define FIELD(value, shift) ((value) >> (shift)&0xF)
#define PFR0_CSV2           56 /* 1: no use of targets of other contexts; 3: nor of their history */
#define CSV2_HISTORY        3
#define PFR1_SSBS           4  /* the guest can disable bypassing by loads, and EL2 starts with it disabled */
#define MMFR1_ECBHB         60 /* exceptions clear the history */
#define ISAR2_CLRBHB        28

#define MIDR_TYPE(midr)    ((midr) >> 24 << 12 | ((midr) >> 4 & 0xFFF)) /* implementer and part */
#define MIDR_OF_ARM(part)  (0x41u << 12 | (part))
#define MIDR_MOST_SPECIFIC 0xFFFFFFFFull

static const struct core_type {
    uint16_t part;
    uint8_t in_order; /* in-order core: not affected */
    uint8_t branches; /* branches that overwrite the history; 0: the history does no harm */
} core_types[] = {
    {0xD03, 1, 0},   /* Cortex-A53 */
    {0xD04, 1, 0},   /* A35 */
    {0xD05, 1, 0},   /* A55 */
    {0xD46, 0, 0},   /* A510 */
    {0xD80, 0, 0},   /* A520 */
    {0xD07, 0, 8},   /* A57 */
    {0xD08, 0, 8},   /* A72 */
    {0xD0B, 0, 24},  /* A76 */
    {0xD0C, 0, 24},  /* Neoverse N1 */
    {0xD0D, 0, 24},  /* A77 */
    {0xD0E, 0, 24},  /* A76AE */
    {0xD40, 0, 32},  /* Neoverse V1 */
    {0xD41, 0, 32},  /* A78 */
    {0xD42, 0, 32},  /* A78AE */
    {0xD44, 0, 32},  /* X1 */
    {0xD47, 0, 32},  /* A710 */
    {0xD48, 0, 32},  /* X2 */
    {0xD49, 0, 32},  /* Neoverse N2 */
    {0xD4B, 0, 32},  /* A78C */
    {0xD4D, 0, 38},  /* A715 */
    {0xD81, 0, 38},  /* A720 */
    {0xD4E, 0, 132}, /* X3 */
    {0xD4F, 0, 132}, /* Neoverse V2 */
};

/* The calling core's type; NULL if it is not in the list. */
static const struct core_type *own_type(void)
{
    uint64_t type = MIDR_TYPE(sysreg_read(MIDR_EL1) & MIDR_MOST_SPECIFIC);

    for (uint32_t i = 0; i < sizeof core_types / sizeof core_types[0]; i++) {
        if (MIDR_OF_ARM(core_types[i].part) == type) {
            return &core_types[i];
        }
    }
    return NULL;
}

static int32_t firmware(uint32_t function, uint32_t argument)
{
    return (int32_t)arch_smc(function, argument, 0, 0);
}

/* Firmware's answer about a workaround for the calling core. Older firmware must not be asked, because the
 * function number may have another meaning there. */
static int32_t query_firmware(uint32_t workaround)
{
    if (system_manifest()->platform.psci_method != BH_PSCI_METHOD_SMC ||
        firmware(PSCI_FEATURES, SMCCC_VERSION) < 0 || firmware(SMCCC_VERSION, 0) < SMCCC_1_1) {
        return WORKAROUND_NOT_SUPPORTED;
    }
    return firmware(SMCCC_ARCH_FEATURES, workaround);
}

/* Firmware's answer, in the form in which guests get it. */
static int8_t guest_answer(uint32_t workaround)
{
    int32_t found = query_firmware(workaround);

    if (found != WORKAROUND_HELPS && found != WORKAROUND_NOT_REQUIRED) {
        found = WORKAROUND_NOT_SUPPORTED;
    }
    return (int8_t)found;
}

/* Protection against branch targets that other contexts have trained. */
static void init_targets(struct branch_predictors *own, const struct core_type *type, uint64_t csv2)
{
    bool safe = csv2 != 0 || (type != NULL && type->in_order != 0);

    own->workaround_1 = (int8_t)WORKAROUND_NOT_REQUIRED;
    if (!safe) {
        own->workaround_1 = guest_answer(SMCCC_ARCH_WORKAROUND_1);
    }
}

/* Protection against branch history, which selects a target and is shared by all contexts. */
static void init_history(struct branch_predictors *own, const struct core_type *type, uint64_t csv2)
{
    own->workaround_3 = WORKAROUND_HELPS;
    if (csv2 >= CSV2_HISTORY || (type != NULL && type->branches == 0)) {
        own->workaround_3 = WORKAROUND_NOT_REQUIRED;
    } else if (FIELD(sysreg_read(ID_AA64MMFR1_EL1), MMFR1_ECBHB) != 0) {
        own->at_entry = AT_ENTRY_NOTHING;
    } else if (FIELD(sysreg_read(ID_AA64ISAR2_EL1), ISAR2_CLRBHB) != 0) {
        own->at_entry = AT_ENTRY_CLRBHB;
    } else if (type != NULL) {
        own->at_entry = type->branches;
    } else {
        own->workaround_3 = guest_answer(SMCCC_ARCH_WORKAROUND_3);
        own->at_entry = own->workaround_3 == WORKAROUND_HELPS ? SMCCC_ARCH_WORKAROUND_3 : AT_ENTRY_NOTHING;
    }
}

/* Targets and history belong to one predictor: clearing only one of them does not help. */
static void combine(struct branch_predictors *own)
{
    if (own->workaround_1 == WORKAROUND_NOT_SUPPORTED) {
        own->at_entry = AT_ENTRY_NOTHING;
        own->workaround_3 = WORKAROUND_NOT_SUPPORTED;
    } else if (own->workaround_1 == WORKAROUND_HELPS && own->at_entry != SMCCC_ARCH_WORKAROUND_3) {
        own->at_entry = query_firmware(SMCCC_ARCH_WORKAROUND_3) == WORKAROUND_HELPS ? SMCCC_ARCH_WORKAROUND_3
                                                                                    : SMCCC_ARCH_WORKAROUND_1;
    }
}

/* Protection against loads that speculatively bypass older stores: firmware turns this off permanently where
 * it can. Returns true if EL2 needs nothing more. */
static bool init_loads(struct branch_predictors *own, const struct core_type *type)
{
    int32_t found;

    own->workaround_2 = WORKAROUND_NOT_REQUIRED;
    if (type != NULL && type->in_order != 0) {
        return true;
    }
    if (FIELD(sysreg_read(ID_AA64PFR1_EL1), PFR1_SSBS) != 0) {
        own->workaround_2 = WORKAROUND_NOT_SUPPORTED;
        return true;
    }
    found = query_firmware(SMCCC_ARCH_WORKAROUND_2);
    if (found == WORKAROUND_HELPS) {
        (void)firmware(SMCCC_ARCH_WORKAROUND_2, 1);
    } else if (found != WORKAROUND_NOT_REQUIRED && found != NOT_REQUIRED) {
        own->workaround_2 = WORKAROUND_NOT_SUPPORTED;
        return false;
    }
    return true;
}

bool branch_predictors_init(struct cpu *cpu)
{
    struct branch_predictors *own = &cpu->predictors;
    const struct core_type *type = own_type();
    uint64_t csv2 = FIELD(sysreg_read(ID_AA64PFR0_EL1), PFR0_CSV2);

    own->at_entry = AT_ENTRY_NOTHING;
    init_targets(own, type, csv2);
    init_history(own, type, csv2);
    combine(own);
    if (own->at_entry != AT_ENTRY_NOTHING) {
        arch_harden_entries();
    }
    return init_loads(own, type) && own->workaround_3 != WORKAROUND_NOT_SUPPORTED;
}
