// SPDX-License-Identifier: Apache-2.0
//
// Every instruction by which EL1 invalidates translations, for the program `remap`, as the assembler encodes
// it, so that the hypervisor's decoding is not repeated here.
#ifndef BULKHEAD_GUESTS_ARCH_REMAP_PROBES_H
#define BULKHEAD_GUESTS_ARCH_REMAP_PROBES_H

#include <stdint.h>

typedef void (*remap_invalidate)(uint64_t operand);

// What the operand contains.
enum remap_operand { remap_nothing, remap_page, remap_address_space, remap_range };

// The same instruction for this VCPU, for the inner and for the outer shareable domain.
struct remap_form {
    const char *name;
    enum remap_operand operand;
    remap_invalidate reach[3];
};

#define REMAP_FORMS(X)                                                                                       \
    X(vmalle1, remap_nothing)                                                                                \
    X(vae1, remap_page)                                                                                      \
    X(aside1, remap_address_space)                                                                           \
    X(vaae1, remap_page)                                                                                     \
    X(vale1, remap_page)                                                                                     \
    X(vaale1, remap_page)                                                                                    \
    X(rvae1, remap_range)                                                                                    \
    X(rvaae1, remap_range)                                                                                   \
    X(rvale1, remap_range)                                                                                   \
    X(rvaale1, remap_range)

#define REMAP_DECLARE(name, operand)                                                                         \
    void remap_##name(uint64_t);                                                                             \
    void remap_##name##is(uint64_t);                                                                         \
    void remap_##name##os(uint64_t);
REMAP_FORMS(REMAP_DECLARE)
#undef REMAP_DECLARE

// The word at `address`; REMAP_FAULT if it is not mapped: the program's handler continues after remap_load_at
// and remap_clean_at with x0 = REMAP_FAULT.
#define REMAP_FAULT 0xFA17u
uint64_t remap_load(uint64_t address);
extern char remap_load_at[];

// Makes instructions written at `address` by this VCPU effective: cleans the line, and invalidates the
// instruction cache by address, of this VCPU, or of all VCPUs. remap_clean returns 0, or REMAP_FAULT.
uint64_t remap_clean(uint64_t address);
extern char remap_clean_at[];
void remap_forget_line(uint64_t address);
void remap_forget_all(uint64_t unused);
void remap_forget_everywhere(uint64_t unused);

#endif
