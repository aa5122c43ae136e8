/* SPDX-License-Identifier: Apache-2.0
 *
 * Output of the scheduler on the console, if it is permitted: the first overrun of each component, the
 * component that ends the run, and at the end a line for each component, which `bulkhead run` reads
 * (src/bulkhead/microkernel/result.py).
 */
#include "microkernel/include/microkernel/rt.h"
#include "microkernel/scheduler/scheduler.h"

#define MOST_DIGITS 20u

static void print_long(uint64_t value)
{
    char text[MOST_DIGITS + 1u];
    char *at = &text[MOST_DIGITS];

    *at = '\0';
    do {
        *--at = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0);
    rt_print(at);
}

static void print_field(const char *name, uint64_t value)
{
    rt_print(", \"");
    rt_print(name);
    rt_print("\": ");
    print_long(value);
}

static void print_name(uint32_t component)
{
    struct sys_words info = sys_call(SYS_INFO, SLOT_THREADS + component, INFO_NAME, 0, 0);
    char name[NAME_BYTES + 1u];

    for (uint32_t i = 0; i < NAME_BYTES; i++) {
        name[i] = (char)(uint8_t)(info.word[1u + i / 4u] >> 8u * (i % 4u));
    }
    name[NAME_BYTES] = '\0';
    rt_print(name);
}

void report_overrun(uint32_t component)
{
    print_name(component);
    rt_print(" is stopped until its next release: the budget is spent\n");
}

void report_ending(uint32_t component)
{
    print_name(component);
    rt_print(" ends the run\n");
}

static void report_one(uint32_t number, bool is_dead)
{
    const struct entry *entry = &table[number];
    const struct record *record = &entry->record;

    rt_print("report {\"component\": ");
    print_long(number);
    print_field("busy_ns", time_in_ns(entry->busy));
    print_field("refills", refills_of(number));
    print_field("killed", is_dead);
    if (entry->period != 0) {
        print_field("starting", record->starting);
        print_field("releases", record->releases);
        print_field("ended", record->ended);
        print_field("late", record->late);
        print_field("overruns", record->overruns);
        print_field("response_most_ns", time_in_ns(record->response_most));
        print_field("response_mean_ns",
                    record->ended != 0 ? time_in_ns(record->response_sum / record->ended) : 0);
        print_field("execution_most_ns", time_in_ns(record->execution_most));
        print_field("most_refills", jobs_most_refills(number));
    }
    rt_print("}\n");
}

void report_all(void)
{
    for (uint32_t i = SCHEDULER + 1u; i < MOST_COMPONENTS; i++) {
        struct sys_words info = sys_call(SYS_INFO, SLOT_THREADS + i, INFO_REFILLS, 0, 0);

        if (info.word[0] == SYS_OK) {
            report_one(i, info.word[2] != 0);
        }
    }
}
