// SPDX-License-Identifier: Apache-2.0
//
// Registers and queues of an NVMe controller (controller.h).
#include "guests/nvme/controller.h"

#include <arch/mmio.h>
#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "guests/runtime/string.h"
#include "guests/runtime/timer.h"

enum {
    // NVMe, 3.1.3 and 3.1.2: properties of the controller over PCIe, and doorbells.
    capabilities_high = 0x04,
    configuration = 0x14,
    status = 0x1C,
    admin_attributes = 0x24,
    admin_submission_base = 0x28,
    admin_completion_base = 0x30,
    doorbells = 0x1000,
    capabilities_stride_mask = 0xF,
    enabled = 1,
    entry_sizes = 6 << 16 | 4 << 20, // 64 bytes of a command, 16 of a completion
    ready = 1,
    failed = 2,
    // NVMe, 5: admin commands.
    create_submission = 1,
    create_completion = 5,
    contiguous = 1,
    with_interrupt = 1 << 1 | 1 << 16, // message 1
    completion_words = 4,
    identifier_shift = 16,
};

static uint32_t read(const struct nvme_controller *controller, uint32_t offset)
{
    return mmio_read32(controller->registers + offset);
}

static void write(const struct nvme_controller *controller, uint64_t offset, uint32_t value)
{
    mmio_write32(controller->registers + offset, value);
}

static void write_wide(const struct nvme_controller *controller, uint32_t offset, uint64_t value)
{
    write(controller, offset, (uint32_t)value);
    write(controller, offset + 4, (uint32_t)(value >> 32));
}

void nvme_init(struct nvme_controller *controller, uint64_t registers, void *pages, uint64_t patience_ticks)
{
    uint8_t *page = pages;

    *controller = (struct nvme_controller){
        .registers = registers,
        .doorbell_stride_bytes = 4ull
                                 << (mmio_read32(registers + capabilities_high) & capabilities_stride_mask),
        .patience_ticks = patience_ticks,
        .admin = {(void *)page, (void *)(page + NVME_PAGE_BYTES), 0, 0, 0, 1},
        .io = {(void *)(page + 2 * NVME_PAGE_BYTES), (void *)(page + 3 * NVME_PAGE_BYTES), 1, 0, 0, 1},
    };
}

struct nvme_rings nvme_own_rings(const struct nvme_controller *controller)
{
    return (struct nvme_rings){
        .admin_submission = mmu_physical(controller->admin.submission),
        .admin_completion = mmu_physical(controller->admin.completion),
        .io_submission = mmu_physical(controller->io.submission),
        .io_completion = mmu_physical(controller->io.completion),
    };
}

static void empty(struct nvme_queue *queue)
{
    queue->tail = 0;
    queue->head = 0;
    queue->phase = 1;
    memset(queue->completion, 0, NVME_PAGE_BYTES);
}

static enum nvme_answer wait_for_status(const struct nvme_controller *controller, uint32_t value)
{
    uint64_t deadline = timer_now() + controller->patience_ticks;

    while ((read(controller, status) & ready) != value) {
        if (timer_now() > deadline)
            return nvme_unanswered;
        if (value != 0 && nvme_has_failed(controller))
            return nvme_refused;
    }
    return nvme_done;
}

static enum nvme_answer create(struct nvme_controller *controller, uint32_t opcode, uint64_t ring)
{
    struct nvme_command command = {.opcode = opcode, .prp1 = ring};

    command.words[0] = controller->io.number | (NVME_ENTRIES - 1) << 16;
    if (opcode == create_submission)
        command.words[1] = contiguous | controller->io.number << 16;
    else
        command.words[1] = contiguous | (controller->interrupts ? with_interrupt : 0);
    return nvme_do(controller, &controller->admin, &command);
}

enum nvme_answer nvme_start(struct nvme_controller *controller, const struct nvme_rings *rings)
{
    enum nvme_answer answer;

    write(controller, configuration, 0);
    answer = wait_for_status(controller, 0);
    if (answer != nvme_done)
        return answer;
    empty(&controller->admin);
    empty(&controller->io);
    write(controller, admin_attributes, (NVME_ENTRIES - 1) | (NVME_ENTRIES - 1) << 16);
    write_wide(controller, admin_submission_base, rings->admin_submission);
    write_wide(controller, admin_completion_base, rings->admin_completion);
    cpu_sync_memory();
    write(controller, configuration, entry_sizes | enabled);
    answer = wait_for_status(controller, ready);
    if (answer == nvme_done)
        answer = create(controller, create_completion, rings->io_completion);
    if (answer == nvme_done)
        answer = create(controller, create_submission, rings->io_submission);
    return answer;
}

bool nvme_has_failed(const struct nvme_controller *controller)
{
    return (read(controller, status) & failed) != 0;
}

static uint64_t doorbell(const struct nvme_controller *controller, const struct nvme_queue *queue,
                         uint32_t of_completion)
{
    return doorbells + (2ull * queue->number + of_completion) * controller->doorbell_stride_bytes;
}

enum nvme_answer nvme_do(struct nvme_controller *controller, struct nvme_queue *queue,
                         const struct nvme_command *command)
{
    uint64_t deadline = timer_now() + controller->patience_ticks;
    const volatile uint32_t *entry = &queue->completion[queue->head * completion_words];
    uint32_t result;

    queue->submission[queue->tail] = *command;
    queue->submission[queue->tail].opcode |= queue->tail << identifier_shift;
    queue->tail = (queue->tail + 1) % NVME_ENTRIES;
    cpu_sync_memory();
    write(controller, doorbell(controller, queue, 0), queue->tail);
    while (((result = entry[3] >> identifier_shift) & 1) != queue->phase) {
        if (timer_now() > deadline)
            return nvme_unanswered;
        if (nvme_has_failed(controller))
            return nvme_refused;
    }
    cpu_sync_memory();
    queue->head = (queue->head + 1) % NVME_ENTRIES;
    queue->phase ^= queue->head == 0;
    write(controller, doorbell(controller, queue, 1), queue->head);
    return result >> 1 == 0 ? nvme_done : nvme_refused;
}

enum nvme_answer nvme_transfer(struct nvme_controller *controller, uint32_t opcode, uint64_t first,
                               uint32_t blocks, uint64_t prp1, uint64_t prp2)
{
    struct nvme_command command = {.opcode = opcode, .namespace_id = 1, .prp1 = prp1, .prp2 = prp2};

    command.words[0] = (uint32_t)first;
    command.words[1] = (uint32_t)(first >> 32);
    command.words[2] = blocks - 1;
    return nvme_do(controller, &controller->io, &command);
}
