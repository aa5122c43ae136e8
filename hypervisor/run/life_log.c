/* SPDX-License-Identifier: Apache-2.0
 *
 * A queue of lines for each domain: producers hold the domain's lock, the consumer is the console core.
 */
#include "run/life_log.h"
#include "console/console.h"
#include "console/vuart.h"
#include "vm/clock.h"
#include <stdatomic.h>

static const char *const texts[BH_DOMAIN_END_COUNT] = {
    [BH_DOMAIN_END_SYSTEM_OFF] = "powered off",
    [BH_DOMAIN_END_SYSTEM_RESET] = "restarts",
    [BH_DOMAIN_END_STAGE2_DATA_ABORT] = "crashed: access to an address that it does not own",
    [BH_DOMAIN_END_STAGE2_INSTRUCTION_ABORT] = "crashed: execution at an address that it does not own",
    [BH_DOMAIN_END_UNDECODABLE_ACCESS] =
        "crashed: device access with a paired or write-back instruction, which cannot be emulated",
    [BH_DOMAIN_END_BAD_DEVICE_ACCESS] = "crashed: device access of a width that the register does not have",
    [BH_DOMAIN_END_UNEXPECTED_EXCEPTION] = "crashed: unexpected exception",
    [BH_DOMAIN_END_SERROR] = "crashed: asynchronous external abort",
    [BH_DOMAIN_END_EXTERNAL_ABORT] = "crashed: external abort",
    [BH_DOMAIN_END_MANAGER_REQUEST] = "stopped by a manager",
};

void life_log_add(struct domain *domain, enum bh_domain_end end, bool restarts)
{
    struct life_log *log = &domain->log;
    uint64_t now = clock_now();
    uint32_t added;

    vuart_end_line(domain);
    spin_lock(&domain->life);
    added = atomic_load_explicit(&log->added, memory_order_relaxed);
    if (now >= log->until && added == atomic_load_explicit(&log->written, memory_order_acquire)) {
        log->until = now + clock_ticks(1000000000);
        log->room = LIFE_LOG_LINES;
    }
    if (log->room == 0) {
        log->left_out++;
    } else {
        log->room--;
        log->lines[added % LIFE_LOG_LINES] = (struct life_log_line){(uint8_t)end, restarts, log->left_out};
        log->left_out = 0;
        atomic_store_explicit(&log->added, added + 1, memory_order_release);
    }
    if (atomic_load_explicit(&domain->dump.is_kept, memory_order_relaxed)) {
        atomic_store_explicit(&domain->dump.is_due, true, memory_order_release);
    }
    spin_unlock(&domain->life);
    console_text_waits();
}

bool life_log_print_next(struct domain *domain)
{
    struct life_log *log = &domain->log;
    uint32_t written = atomic_load_explicit(&log->written, memory_order_relaxed);
    const struct life_log_line *line = &log->lines[written % LIFE_LOG_LINES];
    const char *name = domain->config->name;
    const char *then = "";
    const char *what;

    if (atomic_load_explicit(&log->added, memory_order_acquire) == written) {
        return false;
    }
    what = texts[line->end];
    if (line->restarts && line->end == BH_DOMAIN_END_MANAGER_REQUEST) {
        what = "is restarted by a manager";
    } else if (line->restarts && line->end != BH_DOMAIN_END_SYSTEM_RESET) {
        then = "; it restarts";
    }
    if (line->left_out != 0) {
        console_log("%s: %s%s (%u such lines were left out)", name, what, then, line->left_out);
    } else {
        console_log("%s: %s%s", name, what, then);
    }
    atomic_store_explicit(&log->written, written + 1, memory_order_release);
    return true;
}
