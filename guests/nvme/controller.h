// SPDX-License-Identifier: Apache-2.0
//
// One NVMe controller with one pair of I/O queues (NVM Express Base Specification 2.0, which "NVMe" means
// below). Commands are given one after the other, and completions are polled. The caller chooses all
// addresses that the controller gets, so that programs can let it access what they like.
#ifndef BULKHEAD_GUESTS_NVME_CONTROLLER_H
#define BULKHEAD_GUESTS_NVME_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

#define NVME_ENTRIES    16u // of each queue, which fit into a page
#define NVME_PAGE_BYTES 4096u

enum {
    nvme_write = 1,
    nvme_read = 2,
};

enum nvme_answer {
    nvme_done,
    nvme_refused,    // completed with an error status, or the controller has failed (CSTS.CFS)
    nvme_unanswered, // no completion in time
};

// A command (NVMe, 3.3.3.1: a submission queue entry).
struct nvme_command {
    uint32_t opcode; // and the identifier, which the controller's functions fill in
    uint32_t namespace_id;
    uint64_t unused;
    uint64_t metadata;
    uint64_t prp1;
    uint64_t prp2;
    uint32_t words[6]; // command dwords 10 to 15
};

struct nvme_queue {
    struct nvme_command *submission;
    uint32_t *completion; // four words for each entry
    uint32_t number;      // 0: the admin queue
    uint32_t tail;
    uint32_t head;
    uint32_t phase;
};

struct nvme_controller {
    uint64_t registers;
    uint64_t doorbell_stride_bytes;
    uint64_t patience_ticks; // for one command, or one change of state
    bool interrupts;         // completions of the I/O queue are interrupts: message 1, which must be enabled
    struct nvme_queue admin;
    struct nvme_queue io;
};

// Addresses, as the controller accesses them, of the rings.
struct nvme_rings {
    uint64_t admin_submission;
    uint64_t admin_completion;
    uint64_t io_submission;
    uint64_t io_completion;
};

// `pages`: four pages for the queues. Nothing is accessed yet.
void nvme_init(struct nvme_controller *controller, uint64_t registers, void *pages, uint64_t patience_ticks);

// The rings in the pages of nvme_init().
struct nvme_rings nvme_own_rings(const struct nvme_controller *controller);

// Resets the controller, and gives it these rings. Anything else than nvme_done: it has no I/O queues.
enum nvme_answer nvme_start(struct nvme_controller *controller, const struct nvme_rings *rings);

// Whether the controller has stopped after an error (CSTS.CFS). Then nvme_start() is needed.
bool nvme_has_failed(const struct nvme_controller *controller);

// Gives a command to a queue and waits for its completion.
enum nvme_answer nvme_do(struct nvme_controller *controller, struct nvme_queue *queue,
                         const struct nvme_command *command);

// Reads or writes `blocks` blocks from `first` on.
enum nvme_answer nvme_transfer(struct nvme_controller *controller, uint32_t opcode, uint64_t first,
                               uint32_t blocks, uint64_t prp1, uint64_t prp2);

#endif
