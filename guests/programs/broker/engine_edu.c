// SPDX-License-Identifier: Apache-2.0
//
// The emulator's device `edu` as the broker's own. A transfer has two steps, into its buffer and out of it,
// of 100 ms each, so the broker sleeps between two looks. The device reports no error.
#include "guests/programs/broker/engine.h"
#include "guests/runtime/edu.h"
#include "guests/runtime/pci.h"

enum { pause_ns = 1000000 };

static struct {
    uint64_t registers;
    uint64_t to;
    uint32_t bytes;
    bool reads; // the first step is under way
} edu;

// A step that an earlier broker has begun must not reach memory: drivers have got back the buffers that it
// names.
static bool edu_init(uint64_t at)
{
    if (mmio_read32(at + pci_id) != edu_id)
        return false;
    edu.registers = pci_registers(at);
    mmio_write32(at + pci_command, pci_command_memory);
    while (edu_is_busy(edu.registers)) {
    }
    pci_enable(at);
    return true;
}

static void begin(const struct flow_piece *piece, uint32_t bytes, uint64_t base)
{
    edu.to = base + piece->to_physical;
    edu.bytes = bytes;
    edu.reads = true;
    edu_read(edu.registers, base + piece->from_physical, bytes);
}

static enum engine_state look(void)
{
    if (edu_is_busy(edu.registers))
        return ENGINE_WORKS;
    if (edu.reads) {
        edu.reads = false;
        edu_write(edu.registers, edu.to, edu.bytes);
        return ENGINE_WORKS;
    }
    cpu_sync_memory();
    return ENGINE_DONE;
}

const struct engine engine_edu = {.init = edu_init, .begin = begin, .look = look, .pause_ns = pause_ns};
