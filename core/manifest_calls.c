/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks which functions of the board's firmware a domain may call (DEN0028, "Function identifiers"): those
 * of the chip, of the board, of secure services and of trusted software. Never PSCI, which concerns cores of
 * the whole board; never SDEI (DEN0054), by which firmware enters the caller's exception level, EL2, at an
 * address that the guest would choose; and no function that EL2 itself answers. Part of manifest_check(),
 * called by manifest_domains.c.
 */
#include "core/manifest_calls.h"

#include "core/manifest_internal.h"

#define NUMBER_BITS   16u /* bits 23:16 are zero, or hints */
#define OWNER(f)      ((f) >> 24 & 0x3Fu)
#define OWNER_SIP     2u
#define OWNER_OEM     3u
#define OWNER_SECURE  4u
#define OWNER_TRUSTED 48u   /* applications, and the trusted OS */
#define LAST_OF_EL2   0x3Fu /* range of secure services: PSCI up to 0x1F, then SDEI */

static bool is_callable(const struct manifest_call *call)
{
    uint32_t owner = OWNER(call->first);
    bool known = owner == OWNER_SIP || owner == OWNER_OEM || owner == OWNER_SECURE || owner >= OWNER_TRUSTED;

    return known && call->first <= call->last && call->first >> NUMBER_BITS == call->last >> NUMBER_BITS &&
           (call->first >> NUMBER_BITS & 0xFFu) == 0 &&
           (owner != OWNER_SECURE || (call->first & 0xFFFFu) > LAST_OF_EL2);
}

/* Whether another domain has a VCPU on one of this domain's cores. That VCPU would wait for as long as a
 * firmware call takes. */
static bool shares_a_core(const struct manifest_header *manifest, const struct manifest_domain *domain)
{
    const struct manifest_vcpu *vcpus = manifest_vcpus(manifest);
    const struct manifest_vcpu *own = vcpus + domain->first_vcpu;

    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        for (uint32_t j = 0; j < manifest->vcpus.count; j++) {
            if (vcpus[j].core == own[i].core && vcpus[j].domain != own[i].domain) {
                return true;
            }
        }
    }
    return false;
}

bool manifest_check_calls(struct manifest_check *check, const struct manifest_domain *domain)
{
    const struct manifest_call *calls = manifest_calls(check->manifest) + domain->first_call;

    for (uint32_t i = 0; i < domain->call_count; i++) {
        if (!is_callable(&calls[i])) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_CALL, &calls[i]);
        }
    }
    if (domain->call_count != 0 && shares_a_core(check->manifest, domain)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_CALL, &domain->first_call);
    }
    return true;
}

bool manifest_may_call(const struct manifest_header *manifest, const struct manifest_domain *domain,
                       uint32_t function)
{
    const struct manifest_call *calls = manifest_calls(manifest) + domain->first_call;

    for (uint32_t i = 0; i < domain->call_count; i++) {
        if (calls[i].first <= function && function <= calls[i].last) {
            return true;
        }
    }
    return false;
}
