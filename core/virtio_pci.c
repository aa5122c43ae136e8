/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The PCI transport as a translation into registers of the MMIO transport (virtio 1.2, 4.1.4).
 */
#include "core/virtio_pci.h"

#include <string.h>

#define CLASS_AND_REVISION 0x07800001u /* another communication controller; 1: not a transitional device */
#define SUBSYSTEM          0x00401AF4u
#define PIN_INTA           1u
#define STATUS_INTERRUPT   0x00080000u
#define VENDOR_CAPABILITY  0x09u
#define NO_VECTOR          0xFFFFu
#define BAR_NUMBER         0xFFu

/* Fields of the common configuration. */
enum common {
    DEVICE_FEATURE_SELECT = 0x00,
    DEVICE_FEATURE = 0x04,
    DRIVER_FEATURE_SELECT = 0x08,
    DRIVER_FEATURE = 0x0C,
    CONFIG_VECTOR = 0x10,
    NUM_QUEUES = 0x12,
    DEVICE_STATUS = 0x14,
    CONFIG_GENERATION = 0x15,
    QUEUE_SELECT = 0x16,
    QUEUE_SIZE = 0x18,
    QUEUE_VECTOR = 0x1A,
    QUEUE_ENABLE = 0x1C,
    QUEUE_NOTIFY_OFF = 0x1E, /* 0, as is the multiplier: all queues are notified at one place */
    QUEUE_PLACES = 0x20,     /* descriptors, driver and device, two words each */
};

/* The capabilities, as words: the first, and offset and size of what it describes. */
struct capability {
    uint8_t at;
    uint8_t bytes;
    uint8_t type;
    uint8_t size;
    uint32_t offset;
};

static const struct capability capabilities[] = {
    {VIRTIO_PCI_CAP_COMMON, 0x10, 1, VIRTIO_PCI_COMMON_BYTES, VIRTIO_PCI_COMMON},
    {VIRTIO_PCI_CAP_NOTIFY, 0x14, 2, 4, VIRTIO_PCI_NOTIFY},
    {VIRTIO_PCI_CAP_ISR, 0x10, 3, 1, VIRTIO_PCI_ISR},
    {VIRTIO_PCI_CAP_DEVICE, 0x10, 4, 0, VIRTIO_PCI_DEVICE},
    {VIRTIO_PCI_CAP_WINDOW, 0x14, 5, 0, 0},
};

#define CAPABILITIES (sizeof(capabilities) / sizeof(capabilities[0]))

void virtio_pci_init(struct virtio_pci *pci, uint32_t device_id, uint64_t bar)
{
    memset(pci, 0, sizeof(*pci));
    pci->function.id = VIRTIO_PCI_ID(device_id);
    pci->function.pin = PIN_INTA;
    pci->function.bar_kinds = PCI_BAR_WIDE;
    pci->function.bar_pa[0] = bar;
    pci->function.bar_bytes[0] = BH_PAGE_BYTES;
    pci->config.function = &pci->function;
    pci->config.class_code = CLASS_AND_REVISION;
    pci->config.subsystem = SUBSYSTEM;
}

void virtio_pci_reset(struct virtio_pci *pci)
{
    pci_config_reset(&pci->config);
    pci->window_bar = pci->window_offset = pci->window_bytes = 0;
}

bool virtio_pci_line(const struct virtio_pci *pci, const struct virtio_mmio *registers)
{
    return registers->device.interrupts != 0 && (pci->config.command & PCI_COMMAND_INTX_OFF) == 0;
}

/* A word of the window's capability. */
static uint32_t window_word(const struct virtio_pci *pci, uint32_t offset)
{
    return offset == 4 ? pci->window_bar : offset == 8 ? pci->window_offset : pci->window_bytes;
}

/* A word of a capability, `offset` from its start. */
static uint32_t capability_word(const struct virtio_pci *pci, const struct virtio_mmio *registers,
                                const struct capability *one, uint32_t offset)
{
    uint32_t next = one->at + one->bytes < VIRTIO_PCI_CAP_END ? one->at + one->bytes : 0;

    if (offset == 0) {
        return VENDOR_CAPABILITY | next << 8 | (uint32_t)one->bytes << 16 | (uint32_t)one->type << 24;
    }
    if (offset > 0xC) {
        return 0; /* the multiplier; the window's data, if the window is no register */
    }
    if (one->at == VIRTIO_PCI_CAP_WINDOW) {
        return window_word(pci, offset);
    }
    return offset == 4   ? 0 /* BAR */
           : offset == 8 ? one->offset
                         : (one->at == VIRTIO_PCI_CAP_DEVICE ? registers->config_bytes : one->size);
}

uint32_t virtio_pci_config_read(const struct virtio_pci *pci, const struct virtio_mmio *registers,
                                uint32_t offset)
{
    if (offset == PCI_COMMAND) {
        return pci_config_read(&pci->config, offset) | PCI_STATUS_LIST |
               (registers->device.interrupts != 0 ? STATUS_INTERRUPT : 0);
    }
    if (offset == PCI_CAPABILITIES) {
        return VIRTIO_PCI_CAP_COMMON;
    }
    for (uint32_t i = 0; i < CAPABILITIES; i++) {
        if (offset - capabilities[i].at < capabilities[i].bytes) {
            return capability_word(pci, registers, &capabilities[i], offset - capabilities[i].at);
        }
    }
    return pci_config_read(&pci->config, offset);
}

static void set_bits(uint32_t *word, uint32_t mask, uint32_t value)
{
    *word = (*word & ~mask) | (value & mask);
}

void virtio_pci_config_write(struct virtio_pci *pci, uint32_t offset, uint32_t mask, uint32_t value)
{
    switch (offset) {
    case VIRTIO_PCI_CAP_WINDOW + 4:
        set_bits(&pci->window_bar, mask & BAR_NUMBER, value);
        break;
    case VIRTIO_PCI_CAP_WINDOW + 8:
        set_bits(&pci->window_offset, mask, value);
        break;
    case VIRTIO_PCI_CAP_WINDOW + 12:
        set_bits(&pci->window_bytes, mask, value);
        break;
    default:
        (void)pci_config_write(&pci->config, offset, mask, value);
        break;
    }
}

uint32_t virtio_pci_window(const struct virtio_pci *pci, uint32_t offset, uint32_t *at)
{
    uint32_t bytes = pci->window_bytes;

    *at = pci->window_offset;
    return offset == VIRTIO_PCI_WINDOW && pci->window_bar == 0 && (bytes == 1 || bytes == 2 || bytes == 4) &&
                   (*at & (bytes - 1)) == 0 && *at < BH_PAGE_BYTES
               ? bytes
               : 0;
}

/* Size of the common configuration's field at `offset`, a multiple of the size of the access. */
static uint32_t field_bytes(uint32_t offset)
{
    if (offset < CONFIG_VECTOR || offset >= QUEUE_PLACES) {
        return 4;
    }
    return offset == DEVICE_STATUS || offset == CONFIG_GENERATION ? 1 : 2;
}

/* The register of the MMIO transport with a word of a queue's address. */
static uint32_t place_register(uint32_t offset)
{
    uint32_t place = offset - QUEUE_PLACES;

    return VIRTIO_MMIO_QUEUE_DESCRIPTORS_LOW + place / 8 * 16 + place % 8;
}

static uint32_t register_value(const struct virtio_mmio *registers, uint32_t offset)
{
    uint64_t value = 0;

    (void)virtio_mmio_read(registers, offset, 4, &value);
    return (uint32_t)value;
}

/* A field of the selected queue, which exists. */
static uint64_t read_queue(const struct virtqueue *queue, uint32_t offset)
{
    const uint64_t places[] = {queue->descriptors, queue->available, queue->used};

    if (offset == QUEUE_SIZE) {
        return queue->entries != 0 ? queue->entries : VIRTQUEUE_MOST_ENTRIES;
    }
    return offset < QUEUE_PLACES ? 0 : places[(offset - QUEUE_PLACES) / 8] >> 8 * (offset & 4) & UINT32_MAX;
}

/* What the MMIO transport has for writing only can be read here. */
static uint64_t read_common(const struct virtio_mmio *registers, uint32_t offset)
{
    const struct virtio_device *device = &registers->device;

    switch (offset) {
    case DEVICE_FEATURE_SELECT:
        return registers->device_features_select;
    case DEVICE_FEATURE:
        return register_value(registers, VIRTIO_MMIO_DEVICE_FEATURES);
    case DRIVER_FEATURE_SELECT:
        return registers->driver_features_select;
    case DRIVER_FEATURE:
        return registers->driver_features_select > 1
                   ? 0
                   : device->accepted >> 32 * registers->driver_features_select & UINT32_MAX;
    case CONFIG_VECTOR:
    case QUEUE_VECTOR:
        return NO_VECTOR;
    case NUM_QUEUES:
        return device->queue_count;
    case DEVICE_STATUS:
        return register_value(registers, VIRTIO_MMIO_STATUS);
    case CONFIG_GENERATION:
        return 0;
    case QUEUE_SELECT:
        return registers->queue_select;
    case QUEUE_ENABLE:
        return register_value(registers, VIRTIO_MMIO_QUEUE_READY);
    default:
        return registers->queue_select < device->queue_count
                   ? read_queue(&device->queues[registers->queue_select], offset)
                   : 0;
    }
}

bool virtio_pci_read(struct virtio_mmio *registers, uint32_t offset, uint32_t bytes, uint64_t *value)
{
    if (offset >= VIRTIO_PCI_DEVICE) {
        return virtio_mmio_read(registers, offset, bytes, value);
    }
    *value = 0;
    if (offset < VIRTIO_PCI_COMMON_BYTES) {
        if (bytes != field_bytes(offset)) {
            return false;
        }
        *value = read_common(registers, offset);
    } else if (offset == VIRTIO_PCI_ISR) {
        if (bytes != 1) {
            return false;
        }
        *value = registers->device.interrupts;
        registers->device.interrupts = 0;
    }
    return true;
}

/* A field of the common configuration as a register of the MMIO transport; 0: the field is read-only. */
static uint32_t written_register(uint32_t offset)
{
    switch (offset) {
    case DEVICE_FEATURE_SELECT:
        return VIRTIO_MMIO_DEVICE_FEATURES_SELECT;
    case DRIVER_FEATURE_SELECT:
        return VIRTIO_MMIO_DRIVER_FEATURES_SELECT;
    case DRIVER_FEATURE:
        return VIRTIO_MMIO_DRIVER_FEATURES;
    case DEVICE_STATUS:
        return VIRTIO_MMIO_STATUS;
    case QUEUE_SELECT:
        return VIRTIO_MMIO_QUEUE_SELECT;
    case QUEUE_SIZE:
        return VIRTIO_MMIO_QUEUE_ENTRIES;
    case QUEUE_ENABLE:
        return VIRTIO_MMIO_QUEUE_READY;
    default:
        return offset >= QUEUE_PLACES ? place_register(offset) : 0;
    }
}

/* A queue whose size the driver has not written has the size that it reads. */
static void size_queue(struct virtio_mmio *registers)
{
    struct virtio_device *device = &registers->device;

    if (registers->queue_select < device->queue_count) {
        struct virtqueue *queue = &device->queues[registers->queue_select];

        queue->entries = queue->entries != 0 ? queue->entries : VIRTQUEUE_MOST_ENTRIES;
    }
}

bool virtio_pci_write(struct virtio_mmio *registers, struct guest_memory *memory, uint32_t offset,
                      uint32_t bytes, uint64_t value, enum virtio_mmio_event *event, uint32_t *queue)
{
    uint32_t to = 0;

    *event = VIRTIO_MMIO_NOTHING;
    if (offset < VIRTIO_PCI_COMMON_BYTES) {
        if (bytes != field_bytes(offset)) {
            return false;
        }
        to = written_register(offset);
    } else if (offset == VIRTIO_PCI_NOTIFY) {
        if (bytes != 2) {
            return false;
        }
        to = VIRTIO_MMIO_QUEUE_NOTIFY;
    }
    if (to == VIRTIO_MMIO_QUEUE_READY) {
        if (value != 1) {
            return true; /* a driver cannot disable a queue (4.1.4.3.2) */
        }
        size_queue(registers);
    }
    return to == 0 || virtio_mmio_write(registers, memory, to, 4, value, event, queue);
}
