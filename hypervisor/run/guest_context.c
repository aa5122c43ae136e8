/* SPDX-License-Identifier: Apache-2.0
 *
 * Saves and loads a guest's registers. The set must be the one that guest_state_reset() resets: a register
 * that is missing in either place carries data from one domain to another.
 */
#include "run/guest_context.h"
#include "run/guest_state.h"
#include <arch/barrier.h>
#include <arch/sysreg.h>

#define TIMER_ENABLE (1u << 0)
#define TIMER_MASKED (1u << 1)

/* X(index, name) */
#define FOR_EACH_REGISTER(X)                                                                                 \
    X(0, CPACR_EL1)                                                                                          \
    X(1, TTBR0_EL1)                                                                                          \
    X(2, TTBR1_EL1)                                                                                          \
    X(3, MAIR_EL1)                                                                                           \
    X(4, AMAIR_EL1)                                                                                          \
    X(5, VBAR_EL1)                                                                                           \
    X(6, ESR_EL1)                                                                                            \
    X(7, FAR_EL1)                                                                                            \
    X(8, AFSR0_EL1)                                                                                          \
    X(9, AFSR1_EL1)                                                                                          \
    X(10, PAR_EL1)                                                                                           \
    X(11, ELR_EL1)                                                                                           \
    X(12, SPSR_EL1)                                                                                          \
    X(13, SP_EL0)                                                                                            \
    X(14, SP_EL1)                                                                                            \
    X(15, TPIDR_EL0)                                                                                         \
    X(16, TPIDRRO_EL0)                                                                                       \
    X(17, TPIDR_EL1)                                                                                         \
    X(18, CONTEXTIDR_EL1)                                                                                    \
    X(19, CSSELR_EL1)                                                                                        \
    X(20, CNTKCTL_EL1)                                                                                       \
    X(21, CNTVOFF_EL2)

#define FOR_EACH_ADDRESS_KEY(X)                                                                              \
    X(0, APIAKEYLO_EL1)                                                                                      \
    X(1, APIAKEYHI_EL1)                                                                                      \
    X(2, APIBKEYLO_EL1)                                                                                      \
    X(3, APIBKEYHI_EL1)                                                                                      \
    X(4, APDAKEYLO_EL1)                                                                                      \
    X(5, APDAKEYHI_EL1)                                                                                      \
    X(6, APDBKEYLO_EL1)                                                                                      \
    X(7, APDBKEYHI_EL1)

#define FOR_EACH_GENERIC_KEY(X)                                                                              \
    X(8, APGAKEYLO_EL1)                                                                                      \
    X(9, APGAKEYHI_EL1)

static void save_timers(struct guest_context *to)
{
    to->virtual_timer.control = sysreg_read(CNTV_CTL_EL0);
    to->virtual_timer.deadline = sysreg_read(CNTV_CVAL_EL0);
    to->physical_timer.control = sysreg_read(CNTP_CTL_EL0);
    to->physical_timer.deadline = sysreg_read(CNTP_CVAL_EL0);
    sysreg_write(CNTV_CTL_EL0, 0);
    sysreg_write(CNTP_CTL_EL0, 0);
}

static void load_timers(const struct guest_context *from)
{
    sysreg_write(CNTV_CVAL_EL0, from->virtual_timer.deadline);
    sysreg_write(CNTV_CTL_EL0, from->virtual_timer.control);
    sysreg_write(CNTP_CVAL_EL0, from->physical_timer.deadline);
    sysreg_write(CNTP_CTL_EL0, from->physical_timer.control);
}

void guest_context_save(struct guest_context *to, const struct guest_regs *general)
{
    to->general = *general;
    to->return_address = sysreg_read(ELR_EL2);
    to->pstate = sysreg_read(SPSR_EL2);
    to->sctlr = sysreg_read(SCTLR_EL1);
    to->tcr = sysreg_read(TCR_EL1);
#define SAVE(i, name) to->registers[i] = sysreg_read(name);
    FOR_EACH_REGISTER(SAVE)
#undef SAVE
#define SAVE(i, name) to->keys[i] = sysreg_read(name);
    if (guest_has_address_keys()) {
        FOR_EACH_ADDRESS_KEY(SAVE)
    }
    if (guest_has_generic_key()) {
        FOR_EACH_GENERIC_KEY(SAVE)
    }
#undef SAVE
    save_timers(to);
    guest_debug_save(&to->debug);
    arch_fp_save(to->fp);
    arch_isb();
}

void guest_context_load(const struct guest_context *from, const struct vcpu *vcpu, struct guest_regs *general)
{
    *general = from->general;
    guest_translation_close(vcpu);
    sysreg_write(ELR_EL2, from->return_address);
    sysreg_write(SPSR_EL2, from->pstate);
#define LOAD(i, name) sysreg_write(name, from->registers[i]);
    FOR_EACH_REGISTER(LOAD)
#undef LOAD
#define LOAD(i, name) sysreg_write(name, from->keys[i]);
    if (guest_has_address_keys()) {
        FOR_EACH_ADDRESS_KEY(LOAD)
    }
    if (guest_has_generic_key()) {
        FOR_EACH_GENERIC_KEY(LOAD)
    }
#undef LOAD
    load_timers(from);
    guest_debug_load(&from->debug);
    arch_fp_load(from->fp);
    guest_translation_open(from->sctlr, from->tcr);
    arch_isb();
}

void guest_timers_off(void)
{
    sysreg_write(CNTV_CTL_EL0, 0);
    sysreg_write(CNTP_CTL_EL0, 0);
    arch_isb();
}

static uint64_t deadline_of(const struct guest_timer *timer)
{
    return (timer->control & (TIMER_ENABLE | TIMER_MASKED)) == TIMER_ENABLE ? timer->deadline : UINT64_MAX;
}

static uint64_t earlier_of(const struct guest_timer *virtual_timer, const struct guest_timer *physical_timer,
                           uint32_t enabled)
{
    uint64_t virtual = (enabled & 1u << BH_VIRTUAL_TIMER_INTID) != 0 ? deadline_of(virtual_timer)
                                                                     : UINT64_MAX;
    uint64_t physical =
        (enabled & 1u << BH_PHYSICAL_TIMER_INTID) != 0 ? deadline_of(physical_timer) : UINT64_MAX;

    return virtual < physical ? virtual : physical;
}

uint64_t guest_context_deadline(const struct guest_context *context, uint32_t enabled)
{
    return earlier_of(&context->virtual_timer, &context->physical_timer, enabled);
}

uint64_t guest_timers_deadline(uint32_t enabled)
{
    const struct guest_timer virtual_timer = {sysreg_read(CNTV_CTL_EL0), sysreg_read(CNTV_CVAL_EL0)};
    const struct guest_timer physical_timer = {sysreg_read(CNTP_CTL_EL0), sysreg_read(CNTP_CVAL_EL0)};

    return earlier_of(&virtual_timer, &physical_timer, enabled);
}
