/* SPDX-License-Identifier: Apache-2.0
 *
 * Report, clock and adversary of an application. One program is one component with one thread, so this state
 * exists once.
 */
#include "microkernel/programs/apps/app.h"
#include "microkernel/include/microkernel/rt.h"
#include "microkernel/include/microkernel/sys.h"

#define FOREVER  0xFFFFFFFFu
#define NS_PER_S 1000000000u
#define POLLS    16u /* without an adversary, the clock is read in one of so many polls */

static struct {
    const char *name;
    uint64_t clocks;
    uint64_t next;   /* time of the adversary's next action */
    uint32_t last;   /* last value of rt_clock() */
    uint64_t period; /* in clocks; 0: there is no adversary */
    uint32_t disturbed;
    uint32_t refills; /* number of refills at the start */
    uint32_t polls;
} app;

static void pass_time(void)
{
    uint32_t now = rt_clock();

    app.clocks += now - app.last;
    app.last = now;
}

void app_disturb(void)
{
    if (rt_parameter("caches") != 0 && sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_CLEAN_CACHE, 0, 0) != SYS_OK) {
        app_fail("the adversary may not clean the caches: `controls` lacks `clean-cache`");
    }
    if (sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_FLUSH_CHECK, 0, 0) != SYS_OK) {
        app_fail("the adversary may not empty what the hardware has loaded: `controls` lacks `flush-check`");
    }
    app.disturbed++;
    pass_time();
    app.next = app.clocks + app.period;
}

/* Refills of this component's dynamic regions since it started. */
static uint32_t refills(void)
{
    return sys_call(SYS_INFO, SLOT_SELF, INFO_REFILLS, 0, 0).word[1];
}

static void mark_begin(void)
{
    __asm__ volatile("dbg #%c0" : : "i"(APP_MARK_BEGIN) : "memory");
}

static void mark_end(void)
{
    __asm__ volatile("dbg #%c0" : : "i"(APP_MARK_END) : "memory");
}

static void lock_ways(void)
{
    uint32_t ways = rt_parameter("lock_ways");

    if (ways == 0) {
        return;
    }
    /* Cleans the caches first: otherwise lines already in these ways would stay there and be hit. */
    if (sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_LOCK_WAYS, ways, 0) != SYS_OK ||
        sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_CLEAN_CACHE, 0, 0) != SYS_OK) {
        app_fail("these ways cannot be locked, or `controls` lacks `lock-ways` or `clean-cache`");
    }
}

void app_start(const char *name)
{
    app.name = name;
    app.period = ((uint64_t)rt_parameter("disturb_ns") * rt_clock_hz() + NS_PER_S - 1u) / NS_PER_S;
    rt_print(name);
    rt_print(": begins\n");
    app.next = app.period;
    lock_ways();
    app.refills = refills();
    app.clocks = 0; /* polls while the data is prepared do not count */
    app.disturbed = 0;
    app.last = rt_clock();
}

void app_begin(const char *name)
{
    app_start(name);
    mark_begin();
}

void app_poll(void)
{
    if (app.period == 0 && ++app.polls % POLLS != 0) {
        return;
    }
    pass_time();
    if (app.period != 0 && app.clocks >= app.next) {
        app_disturb();
    }
}

static void begin_report(void)
{
    rt_print("report {\"program\": \"");
    rt_print(app.name != 0 ? app.name : "none");
    rt_print("\"");
}

void app_report(void)
{
    mark_end();
    pass_time();
    begin_report();
    app_field("clocks", app.clocks);
    app_field("clock_hz", rt_clock_hz());
    app_field("refills", refills() - app.refills);
    app_field("disturbed", app.disturbed);
}

static void name_field(const char *name)
{
    rt_print(", \"");
    rt_print(name);
    rt_print("\": ");
}

void app_field(const char *name, uint64_t value)
{
    name_field(name);
    app_print(value);
}

void app_text(const char *name, const char *text)
{
    name_field(name);
    rt_print("\"");
    for (; *text != '\0'; text++) {
        /* Replaces characters that a JSON string would have to escape. */
        const char one[] = {*text == '"' || *text == '\\' ? '\'' : *text < ' ' ? ' ' : *text, '\0'};

        rt_print(one);
    }
    rt_print("\"");
}

void app_end(void)
{
    rt_print("}\n");
    (void)sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_END, 0, 0);
}

void app_fail(const char *what)
{
    begin_report();
    app_text("error", what);
    app_end();
    for (;;) {
        rt_sleep(FOREVER);
    }
}

void app_print(uint64_t value)
{
    char text[21];
    char *at = &text[sizeof text - 1u];

    *at = '\0';
    do {
        *--at = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0);
    rt_print(at);
}
