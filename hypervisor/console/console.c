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
/* The console takes a bounded part of the time of its core's guest, however much other domains write and
 * however fast the UART is. A call that moves characters has a budget: of characters typed, taken from rings
 * and written. Then there is a pause without any interrupt for the console, BH_CONSOLE_PAUSE_NS from the
 * call's beginning; an alarm ends it. The alarm's call moves the next characters. If there are none, it waits
 * for a request. If the UART was full, it waits for the UART's interrupt. So there are at most two calls in
 * each BH_CONSOLE_PAUSE_NS, and one of them moves nothing. A UART at 115200 baud takes three characters in
 * that time. */
#define CALL_BUDGET    28u
#define INPUT_PER_CALL 16u
/* How long the first domain's start may wait for the log lines of EL2's own start: a line of 90 characters
 * takes 8 ms at 115200 baud. */
#define START_LIMIT_NS 20000000u
#define POLL_LIMIT     10000000u /* polls of a UART that takes nothing, after which its output is given up */
#define LOG_LINE_BYTES 160u

static struct console {
    struct spinlock drain_lock; /* protects mux and staged bytes */
    struct console_mux mux;
    uint8_t staged[CONSOLE_STEP_BYTES]; /* bytes on their way to the UART */
    uint32_t staged_next;
    uint32_t staged_count;
    uint64_t pause_end;     /* counter value */
    bool uart_was_full;     /* the next call, at the pause's end, only waits for the UART's interrupt */
    bool escape;            /* the escape byte was typed */
    bool started;           /* requests reach the console core */
    _Atomic bool woken;     /* the console core will check for output */
    _Atomic bool text_left; /* print_next() may have a line */
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
    atomic_store(&console.text_left, true);
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
    gic_enable(console.uart_irq, this_cpu()->mpidr);
    atomic_store(&console.woken, false);
    wake(); /* its call finds what was typed before */
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

void console_add_text(bool (*print_next)(void))
{
    console.print_next = print_next;
}

/* Returns false if no text has a line left. The flag is cleared first: a text that comes meanwhile sets it
 * again. */
static bool print_line_of_text(void)
{
    if (console.print_next == NULL || !atomic_exchange(&console.text_left, false) || !console.print_next()) {
        return false;
    }
    atomic_store(&console.text_left, true); /* there may be another one */
    return true;
}

/* Formats at most one line in a call, because formatting takes as long as all other work of a call. This is
 * done first, so that guests that write all the time, and pasted text, cannot delay the texts; there is room
 * for a line of text only while the log is empty. */
static void continue_text(uint32_t *budget)
{
    if (console_ring_room(&console.log) >= CONSOLE_RING_BYTES - LOG_LINE_BYTES && print_line_of_text()) {
        *budget = 0;
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

/* Returns false if the character was a command: the line that answers takes as long as the rest of a call. */
static bool type(uint8_t character)
{
    uint32_t focus = atomic_load(&console.focus);
    bool escaped = console.escape;

    console.escape = false;
    if (escaped && character >= '0' && character <= '9') {
        change_focus((uint32_t)(character - '0'));
        return false;
    }
    if (escaped && character == 'n' && focus != BH_ALL_DOMAINS) {
        change_focus(console_after(focus));
        return false;
    }
    if (escaped && character == 't') {
        console_log(CONSOLE_TIME_LINE);
        return false;
    }
    if (!escaped && character == ESCAPE) {
        console.escape = true;
    } else if (focus != BH_ALL_DOMAINS && (!escaped || character == ESCAPE)) {
        (void)vuart_receive(domain_at(focus), character);
    }
    return true;
}

/* Only a character that arrives at an empty UART raises an interrupt, so a call that leaves some there must
 * be followed by another one. */
static void take_input(uint32_t *budget)
{
    int character;

    for (uint32_t i = 0; i < INPUT_PER_CALL && *budget != 0 && (character = uart_read()) >= 0; i++) {
        *budget = type((uint8_t)character) ? *budget - 1 : 0;
    }
}

static bool has_output(void)
{
    bool due;

    if (atomic_load(&console.text_left)) {
        return true;
    }
    spin_lock(&console.drain_lock);
    due = console.staged_next != console.staged_count || console_mux_is_due(&console.mux);
    spin_unlock(&console.drain_lock);
    return due;
}

static void listen_to_uart(bool receive, bool transmit)
{
    uart_enable_rx_irq(receive);
    uart_enable_tx_irq(transmit);
}

/* Returns false if there is output after all, and no request for it is on its way. */
static bool wait_for_request(void)
{
    listen_to_uart(true, false);
    atomic_store(&console.woken, false);
    /* Output that came before `woken` was cleared has sent no request. */
    return !has_output() || atomic_exchange(&console.woken, true);
}

/* `now`: when the call began. `budget`: what is left for output. */
static void move_output(uint64_t now, uint32_t budget)
{
    bool more;

    atomic_store(&console.woken, true);
    listen_to_uart(false, false);
    spin_lock(&console.drain_lock);
    more = drain(&budget, false);
    spin_unlock(&console.drain_lock);
    console.uart_was_full = more && budget != 0;
    console.pause_end = now + clock_ticks(BH_CONSOLE_PAUSE_NS);
    clock_set_alarm(CLOCK_ALARM_CONSOLE, console.pause_end);
    for (uint32_t i = 0; i < domain_count(); i++) {
        vuart_output_taken(domain_at(i));
    }
}

void console_handle(void)
{
    uint64_t now = clock_now();
    uint32_t budget = CALL_BUDGET;

    if (now < console.pause_end) {
        return; /* this interrupt was on its way when the pause began */
    }
    if (console.uart_was_full) {
        console.uart_was_full = false;
        listen_to_uart(true, true);
        return;
    }
    uart_clear_irq();
    continue_text(&budget);
    take_input(&budget);
    if (budget != CALL_BUDGET || has_output() || !wait_for_request()) {
        move_output(now, budget);
    }
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
        budget = CALL_BUDGET;
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

    atomic_store(&console.text_left, true); /* whether or not somebody has told yet */
    atomic_store(&console.closed, true);    /* guests that still run may write faster than we can */
    spin_lock(&console.drain_lock);
    do {
        budget = CALL_BUDGET;
    } while (steps-- != 0 && wait_for_room() && (drain(&budget, true) || print_line_of_text()));
    spin_unlock(&console.drain_lock);
    for (uint32_t i = 0; i < POLL_LIMIT && uart_tx_busy(); i++) {
    }
}
