/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors of components (MPAMF_ESR): counts all errors, and logs each error code of each component once. The
 * handler disables the component's interrupt, and the next read of a monitor enables it again, so a component
 * with permanent errors causes at most one interrupt for each read of a monitor.
 */
#include "console/console.h"
#include "mpam/mpam_registers.h"
#include "vm/system.h"
#include <arch/gic.h>

#define CODES 16u

static uint32_t logged[BH_MAX_MPAM_COMPONENTS]; /* bit c: error code c has been logged */

static const char *const names[CODES] = {
    [MPAM_ERROR_NONE] = "no error",
    [MPAM_ERROR_PARTID_SEL_RANGE] = "PARTID out of range in a selection",
    [MPAM_ERROR_REQ_PARTID_RANGE] = "PARTID out of range in a request",
    [MPAM_ERROR_MSMONCFG_ID_RANGE] = "PARTID or group out of range in a monitor",
    [MPAM_ERROR_REQ_PMG_RANGE] = "group out of range in a request",
    [MPAM_ERROR_MONITOR_RANGE] = "monitor out of range in a selection",
    [MPAM_ERROR_INTPARTID_RANGE] = "internal PARTID out of range",
    [MPAM_ERROR_UNEXPECTED_INTERNAL] = "internal PARTID unexpected",
    [MPAM_ERROR_UNDEFINED_RIS_PART_SEL] = "no such instance in a selection",
    [MPAM_ERROR_RIS_NO_CONTROL] = "control that the instance does not have",
    [MPAM_ERROR_UNDEFINED_RIS_MON_SEL] = "no such instance in a monitor's selection",
    [MPAM_ERROR_RIS_NO_MONITOR] = "monitor that the instance does not have",
};

const char *mpam_error_name(uint32_t code)
{
    return code < CODES && names[code] != NULL ? names[code] : "unknown error";
}

static bool has_registers(const struct mpam_component *component)
{
    return component->instances[0].has_esr;
}

void mpam_errors_clear(const struct mpam_component *component)
{
    if (has_registers(component)) {
        mpam_write(component, MPAMF_ECR, 0);
        mpam_write(component, MPAMF_ESR, 0);
    }
}

uint32_t mpam_errors_pending(const struct mpam_component *component)
{
    uint32_t error = has_registers(component) ? mpam_read(component, MPAMF_ESR) : 0;

    return (error >> MPAMF_ESR_ERRCODE_SHIFT & MPAMF_ESR_ERRCODE) != MPAM_ERROR_NONE ? error : 0;
}

/* MPAMF_ESR describes one error; with OVRWR there was at least one more before it. */
static void take(uint32_t index, const struct mpam_component *component)
{
    struct status_mpam *status = mpam_status();
    uint32_t error = mpam_errors_pending(component);
    uint32_t code = error >> MPAMF_ESR_ERRCODE_SHIFT & MPAMF_ESR_ERRCODE;

    if (error == 0) {
        return;
    }
    mpam_write(component, MPAMF_ESR, 0);
    status->errors[code] += (error & MPAMF_ESR_OVRWR) != 0 ? 2 : 1;
    status->last_error = error;
    status->last_component = index;
    if ((logged[index] >> code & 1) == 0) {
        logged[index] |= 1u << code;
        console_log("MPAM component %u: %s (MPAMF_ESR %x); counted from now on", index, mpam_error_name(code),
                    error);
    }
}

void mpam_errors_start(uint64_t mpidr)
{
    for (uint32_t i = 0; i < mpam_component_count(); i++) {
        const struct mpam_component *component = mpam_component_at(i);

        logged[i] = 0;
        if (has_registers(component) && component->config->error_irq != 0) {
            gic_enable(component->config->error_irq, mpidr);
            mpam_write(component, MPAMF_ECR, MPAMF_ECR_INTEN);
        }
    }
}

bool mpam_errors_interrupt(uint32_t intid)
{
    bool any = false;

    for (uint32_t i = 0; i < mpam_component_count(); i++) {
        const struct mpam_component *component = mpam_component_at(i);

        if (has_registers(component) && component->config->error_irq == intid) {
            any = true;
            mpam_write(component, MPAMF_ECR, 0);
            take(i, component);
        }
    }
    if (any) {
        mpam_status()->error_interrupts++;
    }
    return any;
}

void mpam_errors_look(void)
{
    for (uint32_t i = 0; i < mpam_component_count(); i++) {
        const struct mpam_component *component = mpam_component_at(i);

        take(i, component);
        if (has_registers(component) && component->config->error_irq != 0) {
            mpam_write(component, MPAMF_ECR, MPAMF_ECR_INTEN);
        }
    }
}
