/* SPDX-License-Identifier: Apache-2.0
 *
 * Decoding of ESR_EL2 and related registers; fields are named as in the architecture (DDI 0487, D24.2.40). No
 * side effects.
 */
#ifndef BULKHEAD_SYNDROME_H
#define BULKHEAD_SYNDROME_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum exception_class {
    EC_WFX = 0x01,
    EC_FP = 0x07,
    EC_HVC64 = 0x16,
    EC_SMC64 = 0x17,
    EC_SYSREG = 0x18,
    EC_SVE = 0x19,
    EC_INSTRUCTION_ABORT_LOWER = 0x20,
    EC_INSTRUCTION_ABORT_SAME = 0x21,
    EC_DATA_ABORT_LOWER = 0x24,
    EC_DATA_ABORT_SAME = 0x25,
};

static inline uint32_t esr_class(uint64_t esr)
{
    return (uint32_t)(esr >> 26) & 0x3F;
}

/* Size in bytes of the instruction that trapped. */
static inline uint64_t esr_instruction_bytes(uint64_t esr)
{
    return (esr & (1u << 25)) != 0 ? 4 : 2;
}

/* Fault status of an abort: 0b0001LL translation, 0b0010LL access flag, 0b0011LL permission, 0b010000
 * external. */
static inline uint32_t esr_fault_status(uint64_t esr)
{
    return (uint32_t)esr & 0x3F;
}

static inline bool esr_is_translation_fault(uint64_t esr)
{
    return (esr & 0x3C) == 0x04;
}

static inline bool esr_is_permission_fault(uint64_t esr)
{
    return (esr & 0x3C) == 0x0C;
}

static inline bool esr_is_external_abort(uint64_t esr)
{
    return esr_fault_status(esr) == 0x10 || (esr & 0x3C) == 0x14;
}

static inline bool esr_is_table_walk(uint64_t esr)
{
    return (esr & (1u << 7)) != 0;
}

/* True for an abort of cache maintenance, which counts as a write. */
static inline bool esr_is_maintenance(uint64_t esr)
{
    return (esr & (1u << 8)) != 0;
}

static inline bool esr_is_write(uint64_t esr)
{
    return (esr & (1u << 6)) != 0;
}

/* True if the syndrome describes the access: a load or store of one general register. */
static inline bool esr_is_decodable(uint64_t esr)
{
    return (esr & (1u << 24)) != 0;
}

static inline uint32_t esr_access_bytes(uint64_t esr)
{
    return 1u << ((esr >> 22) & 3);
}

static inline bool esr_is_sign_extended(uint64_t esr)
{
    return (esr & (1u << 21)) != 0;
}

/* True for a described access that reads 32 bits without sign extension, as nearly all reads of devices
 * do. */
static inline bool esr_is_plain_read(uint64_t esr)
{
    uint64_t relevant = (1u << 24) | (3u << 22) | (1u << 21) | (1u << 7) | (1u << 6);

    return (esr & relevant) == ((1u << 24) | (2u << 22));
}

/* True for a described access that writes 32 bits. */
static inline bool esr_is_plain_write(uint64_t esr)
{
    uint64_t relevant = (1u << 24) | (3u << 22) | (1u << 7) | (1u << 6);

    return (esr & relevant) == ((1u << 24) | (2u << 22) | (1u << 6));
}

static inline uint32_t esr_transfer_register(uint64_t esr)
{
    return (uint32_t)(esr >> 16) & 0x1F;
}

static inline bool esr_is_64bit_register(uint64_t esr)
{
    return (esr & (1u << 15)) != 0;
}

/* Guest-physical address of the page that caused a stage-2 abort, from HPFAR_EL2. */
static inline uint64_t hpfar_page(uint64_t hpfar)
{
    return (hpfar & 0xFFFFFFFFF0ull) << 8;
}

/* Fields of the syndrome of a trapped MRS or MSR. */
static inline bool esr_sysreg_is_read(uint64_t esr)
{
    return (esr & 1) != 0;
}

static inline uint32_t esr_sysreg_register(uint64_t esr)
{
    return (uint32_t)(esr >> 5) & 0x1F;
}

/* True for a system instruction such as TLBI, IC or DC (op0 is 1); false for a register (op0 is 2 or 3). */
static inline bool esr_sysreg_is_instruction(uint64_t esr)
{
    return (esr & (1u << 21)) == 0;
}

static inline uint32_t esr_sysreg_crm(uint64_t esr)
{
    return (uint32_t)(esr >> 1) & 0xF;
}

static inline uint32_t esr_sysreg_op2(uint64_t esr)
{
    return (uint32_t)(esr >> 17) & 7;
}

/* The five fields op0, op1, CRn, CRm, op2 as one number, in the order of the instruction's fields. */
#define SYSREG_ENCODING(op0, op1, crn, crm, op2)                                                             \
    (((op0) << 14) | ((op1) << 11) | ((crn) << 7) | ((crm) << 3) | (op2))

static inline uint32_t esr_sysreg_encoding(uint64_t esr)
{
    uint32_t iss = (uint32_t)esr;

    return SYSREG_ENCODING((iss >> 20) & 3u, (iss >> 14) & 7u, (iss >> 10) & 15u, (iss >> 1) & 15u,
                           (iss >> 17) & 7u);
}

#ifdef __cplusplus
}
#endif

#endif
