// SPDX-License-Identifier: Apache-2.0
//
// Conversion of figures, and the text that is printed at the end: the hypervisor sends output while the guest
// goes on, which would take time of what is measured. Rates and times have one digit behind the point.
#include <stdarg.h>
#include <stddef.h>

#include "guests/programs/self_test/self_test.h"
#include "guests/runtime/console.h"
#include "guests/runtime/format.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum { report_bytes = 16384 };

static struct {
    struct text text;
    char buffer[report_bytes];
} report;

uint64_t ticks_of_us(uint64_t us)
{
    return ns_to_ticks(us * 1000, timer_frequency());
}

uint64_t picoseconds_each(uint64_t ticks, uint64_t count)
{
    return ticks_to_ns(ticks * 1000, timer_frequency()) / count;
}

uint64_t kilobytes_per_s(uint64_t bytes, uint64_t ticks)
{
    uint64_t us = ticks_to_ns(ticks, timer_frequency()) / 1000;

    return us == 0 ? 0 : bytes * 1000 / us;
}

void report_append(const char *format, ...)
{
    va_list arguments;

    if (report.text.buffer == NULL)
        text_start(&report.text, report.buffer, sizeof(report.buffer));
    va_start(arguments, format);
    text_append_list(&report.text, format, arguments);
    va_end(arguments);
}

void report_append_tenths(const char *name, uint64_t thousandths)
{
    uint64_t tenths = (thousandths + 50) / 100;

    report_append(", %s: %lu.%lu", name, tenths / 10, tenths % 10);
}

static void sort(uint64_t *values, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        uint64_t value = values[i];
        uint64_t at = i;

        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

void report_append_times(const char *name, uint64_t *ticks, uint64_t count)
{
    uint64_t hz = timer_frequency();
    uint64_t sum = 0;

    sort(ticks, count);
    for (uint64_t i = 0; i < count; i++)
        sum += ticks[i];
    report_append("  %s: { min: %lu ns, avg: %lu ns, max: %lu ns, median: %lu ns, count: %lu }\n", name,
                  ticks_to_ns(ticks[0], hz), ticks_to_ns(sum, hz) / count, ticks_to_ns(ticks[count - 1], hz),
                  ticks_to_ns(ticks[count / 2], hz), count);
}

bool report_print(void)
{
    console_write("# self-test: begin\n");
    console_write(report.buffer);
    if (report.text.truncated)
        return false;
    console_write("# self-test: end\n");
    return true;
}
