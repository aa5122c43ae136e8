/* SPDX-License-Identifier: Apache-2.0
 *
 * The console core's work: moves characters from the rings to the UART, and from the UART to the domain with
 * the focus; and the hypervisor's log. Producers on other cores only put characters into rings and send at
 * most one request.
 */
#include "console/console.h"
#include "console/vuart.h"

#include "base/format.h"
#include "console/console_mux.h"
#include "core/spinlock.h"
#include "platform/common/uart.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include <arch/gic.h>
#include <string.h>

#define ESCAPE         0x1D /* Ctrl-] */
#define INPUT_PER_CALL 64u
/* Limit on the time that the console takes from the guest of its core, however much other domains write and
 * however fast the UART is: in each window, a budget of characters taken, bytes written and calls. A real
 * line carries a tenth of it. The windows are short, because the work of a window is done in one piece with
 * interrupts masked: three dozen characters, of which a UART at 115200 baud takes one or two in that time. */
#define WINDOW_BUDGET  44u
#define CALL_COST      16u
/* How long the first domain's start may wait for the log lines of EL2's own start: a line of 90 characters
 * takes 8 ms at 115200 baud. */
#define START_LIMIT_NS 20000000u
#define POLL_LIMIT     10000000u /* polls of a UART that takes nothing, after which its output is given up */
#define LOG_LINE_BYTES 160u

_Static_assert(BH_CONSOLE_WINDOW_CALLS == (WINDOW_BUDGET + CALL_COST - 1) / CALL_COST,
               "so many calls use up the budget of a window");

static struct console {
    struct spinlock drain_lock; /* protects mux and staged bytes */
    struct console_mux mux;
    uint8_t staged[CONSOLE_STEP_BYTES]; /* bytes on their way to the UART */
    uint32_t staged_next;
    uint32_t staged_count;
    uint64_t window_end;    /* counter value */
    uint32_t budget;        /* budget left in the window */
    bool escape;            /* the escape byte was typed */
    bool input_left;        /* characters may be left in the UART */
    bool started;           /* requests reach the console core */
    _Atomic bool woken;     /* the console core will check for output */
    _Atomic bool closed;    /* only what the rings already hold is still shown */
    _Atomic uint32_t focus; /* domain index, or BH_ALL_DOMAINS */
    uint32_t core;
    uint32_t uart_irq;
    struct spinlock log_lock;
    struct console_ring log;
    uint32_t log_lost;
    bool (*print_next)(void); /* console_add_text() */
} console;

void console_init(const struct manifest_platform *platform, uint32_t console_core, uint32_t console_domain)
{
    memset(&console, 0, sizeof console);
    console_mux_init(&console.mux);
    console_mux_add(&console.mux, CONSOLE_HYPERVISOR, &console.log, "bulkhead", false);
    console.core = console_core;
    console.uart_irq = platform->uart_irq;
    atomic_store(&console.focus, console_domain);
    uart_init(platform);
}

static bool has_console(uint32_t index)
{
    return index < domain_count() && domain_has_flag(domain_at(index), BH_DOMAIN_FLAG_CONSOLE);
}

/* The first domain with a console after `index`, or BH_ALL_DOMAINS. */
static uint32_t console_after(uint32_t index)
{
    for (uint32_t i = 1; i <= domain_count(); i++) {
        if (has_console((index + i) % domain_count())) {
            return (index + i) % domain_count();
        }
    }
    return BH_ALL_DOMAINS;
}

static void set_focus(uint32_t index)
{
    atomic_store(&console.focus, index);
    spin_lock(&console.drain_lock);
    console.mux.through = index;
    spin_unlock(&console.drain_lock);
}

static void wake(void)
{
    if (!atomic_exchange(&console.woken, true) && console.started) {
        cpu_send_request(cpu_at(console.core), CPU_REQUEST_CONSOLE);
    }
}

void console_text_waits(void)
{
    wake();
}

void console_start(void)
{
    uint32_t focus = atomic_load(&console.focus);

    for (uint32_t i = 0; i < domain_count(); i++) {
        console_mux_add(&console.mux, i, &domain_at(i)->vuart.output, domain_at(i)->config->name,
                        domain_has_flag(domain_at(i), BH_DOMAIN_FLAG_CONSOLE_RAW));
    }
    set_focus(has_console(focus) ? focus : console_after(domain_count() - 1));
    console.started = true;
    console.input_left = true; /* the interrupt of characters typed before is lost */
    uart_clear_irq();
    uart_enable_rx_irq(true);
    gic_enable(console.uart_irq, this_cpu()->mpidr);
    atomic_store(&console.woken, false);
    wake();
}

static uint32_t remaining(uint32_t budget, uint32_t cost)
{
    return budget > cost ? budget - cost : 0;
}

/* Writes staged bytes; returns false if the UART is full. */
static bool write_staged(void)
{
    uint32_t next = console.staged_next;

    while (next < console.staged_count && uart_tx_ready()) {
        uart_write(console.staged[next++]);
    }
    console.staged_next = next;
    return next == console.staged_count;
}

/* Moves characters until the UART is full, the budget is spent or nothing is due. Returns true if more is
 * due. */
static bool drain(uint32_t *budget, bool everything)
{
    uint64_t now_us = clock_since_start_us();

    for (;;) {
        bool idle;

        if (!write_staged() || *budget == 0) {
            return true;
        }
        console.staged_count = console_mux_next(&console.mux, everything, now_us, console.staged, &idle);
        console.staged_next = 0;
        *budget = remaining(*budget, 1 + console.staged_count);
        if (idle) {
            return false;
        }
    }
}

static void charge_call(void)
{
    uint64_t now = clock_now();

    if (now >= console.window_end) {
        console.window_end = now + clock_ticks(BH_CONSOLE_WINDOW_NS);
        console.budget = WINDOW_BUDGET;
    }
    console.budget = remaining(console.budget, CALL_COST);
}

void console_add_text(bool (*print_next)(void))
{
    console.print_next = print_next;
}

/* Returns false if no text has a line left. */
static bool print_line_of_text(void)
{
    return console.print_next != NULL && console.print_next();
}

/* Formats at most one line in a window, because formatting takes as long as the rest of the window. This is
 * done before other output, so that guests that write all the time cannot delay the texts; there is room for
 * a line of text only while the log is empty. */
static void continue_text(void)
{
    if (console.budget != 0 && console_ring_room(&console.log) >= CONSOLE_RING_BYTES - LOG_LINE_BYTES &&
        print_line_of_text()) {
        console.budget = 0;
    }
}

static void move_output(void)
{
    bool more;
    bool pause;

    charge_call();
    atomic_store(&console.woken, false);
    continue_text();
    spin_lock(&console.drain_lock);
    more = drain(&console.budget, false);
    spin_unlock(&console.drain_lock);
    pause = console.budget == 0;
    if (more || pause) {
        atomic_store(&console.woken, true); /* the UART's interrupt or the alarm will continue */
    }
    if (pause) {
        clock_set_alarm(CLOCK_ALARM_CONSOLE, console.window_end);
    }
    uart_enable_tx_irq(more && !pause);
    for (uint32_t i = 0; i < domain_count(); i++) {
        vuart_output_taken(domain_at(i));
    }
}

static void change_focus(uint32_t index)
{
    if (!has_console(index)) {
        console_log("no console: domain %u", index);
        return;
    }
    set_focus(index);
    console_log("input goes to %s", domain_at(index)->config->name);
}

static void type(uint8_t character)
{
    uint32_t focus = atomic_load(&console.focus);
    bool escaped = console.escape;

    console.escape = false;
    if (escaped && character >= '0' && character <= '9') {
        change_focus((uint32_t)(character - '0'));
    } else if (escaped && character == 'n' && focus != BH_ALL_DOMAINS) {
        change_focus(console_after(focus));
    } else if (escaped && character == 't') {
        console_log(CONSOLE_TIME_LINE);
    } else if (!escaped && character == ESCAPE) {
        console.escape = true;
    } else if (focus != BH_ALL_DOMAINS && (!escaped || character == ESCAPE)) {
        (void)vuart_receive(domain_at(focus), character);
    }
}

/* Only a character that arrives at an empty UART raises an interrupt; characters that are left there must be
 * polled. */
static void take_input(void)
{
    for (uint32_t i = 0; i < INPUT_PER_CALL; i++) {
        int character = uart_read();

        console.input_left = character >= 0;
        if (!console.input_left) {
            return;
        }
        type((uint8_t)character);
    }
}

void console_handle_request(void)
{
    if (console.input_left) {
        take_input();
    }
    move_output();
    if (console.input_left) {
        wake(); /* not needed if the UART's interrupt comes for the output */
    }
}

void console_irq(void)
{
    uart_clear_irq();
    console.input_left = true;
    console_handle_request();
}

void console_output_pushed(struct domain *domain, uint8_t character)
{
    if (character == '\n' || atomic_load_explicit(&console.focus, memory_order_relaxed) == domain->index ||
        console_ring_waiting(&domain->vuart.output) >= CONSOLE_RING_BYTES / 2) {
        wake();
    }
}

static bool push_line(const char *line, size_t length)
{
    return console_ring_push_line(&console.log, line, (uint32_t)length, clock_since_start_us());
}

void console_log(const char *format, ...)
{
    char line[LOG_LINE_BYTES + 1];
    va_list arguments;
    size_t length;

    va_start(arguments, format);
    length = format_text_va(line, sizeof line, format, arguments);
    va_end(arguments);
    spin_lock(&console.log_lock);
    if (console.log_lost != 0) {
        char lost[40];

        if (push_line(lost, format_text(lost, sizeof lost, "%u lines lost", console.log_lost))) {
            console.log_lost = 0;
        }
    }
    if (console.log_lost != 0 || !push_line(line, length)) {
        console.log_lost++;
    }
    spin_unlock(&console.log_lock);
    wake();
}

bool console_is_closed(void)
{
    return atomic_load_explicit(&console.closed, memory_order_relaxed);
}

void console_write_start(void)
{
    uint64_t end = clock_now() + clock_ticks(START_LIMIT_NS);
    uint32_t budget;

    spin_lock(&console.drain_lock);
    do {
        budget = WINDOW_BUDGET;
    } while (drain(&budget, false) && clock_now() < end);
    spin_unlock(&console.drain_lock);
}

static bool wait_for_room(void)
{
    for (uint32_t i = 0; i < POLL_LIMIT; i++) {
        if (uart_tx_ready()) {
            return true;
        }
    }
    return false;
}

void console_flush(void)
{
    /* Bound on the loop: each step writes at least one byte, takes an item from a ring, or ends the loop. One
     * byte of a ring causes at most 24 bytes here, for a tab that is erased. Output that a core is writing
     * now may be added. */
    uint32_t steps = CONSOLE_SOURCES * CONSOLE_RING_BYTES * 24;
    uint32_t budget;

    atomic_store(&console.closed, true); /* guests that still run may write faster than we can */
    spin_lock(&console.drain_lock);
    do {
        budget = WINDOW_BUDGET;
    } while (steps-- != 0 && wait_for_room() && (drain(&budget, true) || print_line_of_text()));
    spin_unlock(&console.drain_lock);
    for (uint32_t i = 0; i < POLL_LIMIT && uart_tx_busy(); i++) {
    }
}
