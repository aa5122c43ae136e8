/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual PL011: registers of DDI 0183 (r1p5), with a transmitter as fast as the console and a line that
 * needs no settings. Called by the trap handler and by the console core. It never waits and never accesses
 * hardware.
 */
#include "console/vuart.h"

#include "console/console.h"
#include "vgic/vgic.h"
#include "vm/clock.h"
#include "vm/domain.h"
#include "vm/system.h"
#include "vm/vcpu.h"
#include <string.h>

#define UARTDR    0x000u
#define UARTRSR   0x004u /* UARTECR when written */
#define UARTFR    0x018u
#define UARTIBRD  0x024u
#define UARTFBRD  0x028u
#define UARTLCR_H 0x02Cu
#define UARTCR    0x030u
#define UARTIFLS  0x034u
#define UARTIMSC  0x038u
#define UARTRIS   0x03Cu
#define UARTMIS   0x040u
#define UARTICR   0x044u
#define UARTDMACR 0x048u
#define IDENTITY  0xFE0u

#define DR_OVERRUN  (1u << 11)
#define RSR_OVERRUN (1u << 3)
#define FR_CTS      (1u << 0)
#define FR_RXFE     (1u << 4)
#define FR_TXFF     (1u << 5)
#define FR_RXFF     (1u << 6)
#define FR_TXFE     (1u << 7)
#define LCR_H_FEN   (1u << 4)
#define CR_RESET    0x300u
#define IFLS_RESET  0x12u
#define INT_RX      (1u << 4)
#define INT_TX      (1u << 5)
#define INT_RT      (1u << 6)
#define INT_OE      (1u << 10)
#define INT_ALL     0x7FFu

#define FIFO_CHARACTERS 32u

/* Linux fills half of the FIFO on a transmit interrupt without checking it, so there must be room for
 * that. */
#define FULL_BELOW_BYTES 64u
#define ROOM_AGAIN_BYTES (CONSOLE_RING_BYTES / 2)

static const uint8_t identity[] = {0x11, 0x10, 0x34, 0x00, 0x0D, 0xF0, 0x05, 0xB1};

void vuart_init(struct domain *domain)
{
    struct vuart *vuart = &domain->vuart;

    memset(vuart, 0, sizeof *vuart);
    vuart_reset(domain);
}

/* The ring is kept: earlier output of the guest is still to be shown, and the console core may be reading
 * it. */
void vuart_reset(struct domain *domain)
{
    struct vuart *vuart = &domain->vuart;

    spin_lock(&vuart->lock);
    memset(&vuart->control, 0, offsetof(struct vuart, output) - offsetof(struct vuart, control));
    vuart->control = CR_RESET;
    vuart->fifo_levels = IFLS_RESET;
    vgic_set_spi_level(domain, system_manifest()->platform.uart_irq,
                       false); /* typing may have raised it since the GIC's own reset */
    spin_unlock(&vuart->lock);
    vuart_end_line(domain);
}

void vuart_end_line(struct domain *domain)
{
    struct vuart *vuart = &domain->vuart;

    spin_lock(&vuart->lock);
    if (vuart->output.in_line) {
        (void)console_ring_push(&vuart->output, '\n', clock_since_start_us());
    }
    spin_unlock(&vuart->lock);
}

static void update_line(struct domain *domain)
{
    struct vuart *vuart = &domain->vuart;
    bool line = (vuart->raw & vuart->mask) != 0;

    if (line != vuart->line) {
        vuart->line = line;
        vgic_set_spi_level(domain, system_manifest()->platform.uart_irq, line);
    }
}

static uint32_t input_count(const struct vuart *vuart)
{
    return vuart->input_head - vuart->input_tail;
}

/* Number of characters that raise the receive interrupt: 1/8, 1/4, 1/2, 3/4, 7/8 of the FIFO, or one without
 * FIFOs. */
static uint32_t receive_level(const struct vuart *vuart)
{
    static const uint8_t levels[8] = {4, 8, 16, 24, 28, 28, 28, 28};

    return (vuart->line_control & LCR_H_FEN) != 0 ? levels[vuart->fifo_levels >> 3 & 7] : 1;
}

static void set_raw(struct vuart *vuart, uint32_t bits, bool on)
{
    vuart->raw = (uint16_t)(on ? vuart->raw | bits : vuart->raw & ~bits);
}

static uint32_t read_data(struct vuart *vuart)
{
    uint32_t value;

    if (input_count(vuart) == 0) {
        return 0;
    }
    value = vuart->input[vuart->input_tail++ % VUART_INPUT_BYTES];
    value |= vuart->overrun ? DR_OVERRUN : 0;
    vuart->overrun = false;
    if (input_count(vuart) < receive_level(vuart)) {
        set_raw(vuart, INT_RX, false);
    }
    if (input_count(vuart) == 0) {
        set_raw(vuart, INT_RT, false);
    }
    return value;
}

/* A guest that writes although the FIFO is full loses the character, as in hardware. After a domain has
 * ended, its output is dropped: its other VCPUs may not have noticed the end yet. NUL is not shown. What is
 * not shown does not wake the console core. */
static void write_data(struct domain *domain, uint8_t character)
{
    struct vuart *vuart = &domain->vuart;

    if (character != '\0' && !console_is_closed() && atomic_load(&domain->state) == BH_DOMAIN_STATE_RUNNING &&
        console_ring_push(&vuart->output, character, clock_since_start_us())) {
        console_output_pushed(domain, character);
    }
    if (console_ring_room(&vuart->output) < FULL_BELOW_BYTES) {
        atomic_store(&vuart->blocked, true);
        set_raw(vuart, INT_TX, false);
    } else if (!atomic_load(&vuart->blocked)) {
        set_raw(vuart, INT_TX, true);
    }
}

static uint32_t flags(const struct vuart *vuart)
{
    uint32_t value = FR_CTS;

    value |= input_count(vuart) == 0 ? FR_RXFE : 0;
    value |= input_count(vuart) >= FIFO_CHARACTERS ? FR_RXFF : 0;
    value |= console_ring_room(&vuart->output) < FULL_BELOW_BYTES ? FR_TXFF : FR_TXFE;
    return value;
}

static uint32_t read_register(struct vuart *vuart, uint32_t offset)
{
    switch (offset) {
    case UARTDR:
        return read_data(vuart);
    case UARTRSR:
        return vuart->overrun ? RSR_OVERRUN : 0;
    case UARTFR:
        return flags(vuart);
    case UARTIBRD:
        return vuart->integer_divisor;
    case UARTFBRD:
        return vuart->fraction_divisor;
    case UARTLCR_H:
        return vuart->line_control;
    case UARTCR:
        return vuart->control;
    case UARTIFLS:
        return vuart->fifo_levels;
    case UARTIMSC:
        return vuart->mask;
    case UARTRIS:
        return vuart->raw;
    case UARTMIS:
        return vuart->raw & vuart->mask;
    case UARTDMACR:
        return vuart->dma_control;
    default:
        return offset >= IDENTITY && offset % 4 == 0 ? identity[(offset - IDENTITY) / 4] : 0;
    }
}

static void write_register(struct domain *domain, uint32_t offset, uint32_t value)
{
    struct vuart *vuart = &domain->vuart;

    switch (offset) {
    case UARTDR:
        write_data(domain, (uint8_t)value);
        break;
    case UARTRSR:
        vuart->overrun = false;
        break;
    case UARTIBRD:
        vuart->integer_divisor = (uint16_t)value;
        break;
    case UARTFBRD:
        vuart->fraction_divisor = value & 0x3F;
        break;
    case UARTLCR_H:
        vuart->line_control = value & 0xFF;
        break;
    case UARTCR:
        vuart->control = (uint16_t)value;
        break;
    case UARTIFLS:
        vuart->fifo_levels = value & 0x3F;
        break;
    case UARTIMSC:
        vuart->mask = value & INT_ALL;
        break;
    case UARTICR:
        set_raw(vuart, value & INT_ALL, false);
        break;
    case UARTDMACR:
        vuart->dma_control = value & 0x7;
        break;
    default:
        break;
    }
}

bool vuart_access(struct vcpu *vcpu, struct mmio_access *access)
{
    struct domain *domain = vcpu->domain;

    if (access->bytes > 4 || access->offset >= VUART_BYTES) {
        return false;
    }
    spin_lock(&domain->vuart.lock);
    if (access->write) {
        write_register(domain, (uint32_t)access->offset, (uint32_t)access->value);
    } else {
        uint32_t mask = access->bytes == 4 ? UINT32_MAX : (1u << 8 * access->bytes) - 1;

        access->value = read_register(&domain->vuart, (uint32_t)access->offset) & mask;
    }
    update_line(domain);
    spin_unlock(&domain->vuart.lock);
    return true;
}

bool vuart_receive(struct domain *domain, uint8_t character)
{
    struct vuart *vuart = &domain->vuart;
    bool taken;

    spin_lock(&vuart->lock);
    taken = input_count(vuart) < VUART_INPUT_BYTES;
    if (taken) {
        vuart->input[vuart->input_head++ % VUART_INPUT_BYTES] = character;
        /* Typed characters are far apart, so the receive timeout has always passed. */
        set_raw(vuart, INT_RT | (input_count(vuart) >= receive_level(vuart) ? INT_RX : 0), true);
    } else {
        vuart->overrun = true;
        set_raw(vuart, INT_OE, true);
    }
    update_line(domain);
    spin_unlock(&vuart->lock);
    return taken;
}

void vuart_output_taken(struct domain *domain)
{
    struct vuart *vuart = &domain->vuart;

    if (!atomic_load(&vuart->blocked) || console_ring_room(&vuart->output) < ROOM_AGAIN_BYTES) {
        return;
    }
    spin_lock(&vuart->lock);
    atomic_store(&vuart->blocked, false);
    set_raw(vuart, INT_TX, true);
    update_line(domain);
    spin_unlock(&vuart->lock);
}
