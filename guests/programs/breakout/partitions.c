// SPDX-License-Identifier: Apache-2.0
//
// MPAM (docs/design/mpam.md): partitions of other domains, and the registers of components, which control the
// resources of every partition. A guest without virtual PARTIDs has none of MPAM's registers; a guest with
// them may choose any number, and all of them map to partitions of its own.
#include <arch/sysreg.h>

#include "guests/programs/breakout/breakout.h"
#include "guests/programs/breakout/probes.h"
#include "guests/runtime/params.h"

#define HAS_HCR      (1ull << 17)
#define EVERY_LABEL  0xFFull
#define PAGE_DEFAULT 0x2C000000ull

enum {
    page_words = 0x3000 / 4, // with the bitmaps of portions
    labels = 256,
};

bool has_partitions(void)
{
    return (sysreg_read(ID_AA64PFR0_EL1) >> 40 & 15) != 0;
}

// A word of a component's registers: one access to each, since an access ends the domain.
static void page_word(uint32_t step)
{
    uint64_t at = aim(param("mpam_page", PAGE_DEFAULT) + 4ull * step, AIM_DEVICE);
    uint64_t found;

    catch_start();
    found = step % 3 == 0 ? probe_store32(at, UINT32_MAX) : probe_load32(at, 0);
    if (catch_stop() != 0)
        note(OUTCOME_FAULT, 1);
    else
        note_through(found);
}

// Of all PARTIDs, those beyond the guest's own.
static uint64_t label_of(uint32_t step)
{
    uint64_t partid = step < labels / 2 ? step : step * 257ull;

    return (partid & 0xFFFF) * 0x10001ull | (uint64_t)step % EVERY_LABEL << 32 |
           (uint64_t)step % EVERY_LABEL << 40;
}

static void choose(uint32_t step)
{
    uint64_t label = label_of(step);
    uint64_t answer;

    catch_start();
    sysreg_write(MPAM0_EL1, label);
    sysreg_write(MPAM1_EL1, label);
    cpu_sync_context();
    answer = sysreg_read(MPAM1_EL1);
    if (catch_stop() != 0) {
        note(OUTCOME_UNDEFINED, 1);
        return;
    }
    catch_start();
    sysreg_write(MPAM1_EL1, 0);
    sysreg_write(MPAM0_EL1, 0);
    cpu_sync_context();
    (void)catch_stop();
    if (has_partitions())
        note(OUTCOME_OWN, 1);
    else
        note_through(answer);
}

// The number of PARTIDs that a guest reads must not be the core's.
static void ask(uint32_t step)
{
    uint64_t answer;

    (void)step;
    catch_start();
    answer = sysreg_read(MPAMIDR_EL1);
    if (catch_stop() != 0)
        note(OUTCOME_UNDEFINED, 1);
    else if (!has_partitions() || (answer & HAS_HCR) != 0)
        note_through(answer);
    else
        note(OUTCOME_MASKED, 1);
}

static const struct attempt attempts[] = {
    {"partitions", "component-word", page_words, page_word, false},
    {"partitions", "label", labels, choose, true},
    {"partitions", "identify", 1, ask, true},
};

const struct attempt_list attempts_partitions = {attempts, sizeof(attempts) / sizeof(attempts[0])};
