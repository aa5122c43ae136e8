// SPDX-License-Identifier: Apache-2.0
//
// Message interrupts of a guest: its interrupt translation service (ITS), its LPIs, and the MSI-X table of a
// PCI function (Arm IHI 0069, chapters 5, 12.11, 12.19; PCI Express Base Specification, 7.7.2). The first
// VCPU gets all of them. After gic_init().
#ifndef BULKHEAD_GUESTS_ITS_H
#define BULKHEAD_GUESTS_ITS_H

#include <stdbool.h>
#include <stdint.h>

#define ITS_FIRST_LPI     8192u
#define ITS_LPIS          64u
#define ITS_FRAME_BYTES   0x10000u // of the registers; the frame that takes messages follows
#define ITS_TRANSLATER    0x10040u // where messages are written, as an offset from the registers
#define ITS_PAGE_BYTES    0x10000u // alignment of the memory, and its size
#define ITS_COMMAND_WORDS 4u

// Registers, as offsets from those of the ITS and of a redistributor.
enum its_register {
    gits_ctlr = 0x0,
    gits_cbaser = 0x80,
    gits_cwriter = 0x88,
    gits_creadr = 0x90,
    gits_baser = 0x100,
    gicr_ctlr = 0x0,
    gicr_propbaser = 0x70,
    gicr_pendbaser = 0x78,
};

enum its_command {
    its_movi = 0x01,
    its_int = 0x03,
    its_clear = 0x04,
    its_sync = 0x05,
    its_mapd = 0x08,
    its_mapc = 0x09,
    its_mapti = 0x0A,
    its_mapi = 0x0B,
    its_inv = 0x0C,
    its_invall = 0x0D,
    its_movall = 0x0E,
    its_discard = 0x0F,
};

struct its_memory {
    uint8_t properties[4096];
    uint64_t queue[4096 / 8];
    uint64_t events[4096 / 8];
    uint8_t unused[ITS_PAGE_BYTES - 3 * 4096];
    uint8_t pending[ITS_PAGE_BYTES];
};

struct its {
    uint64_t registers;
    uint64_t redistributor; // of the first VCPU
    struct its_memory *memory;
    uint32_t written; // offset of the next command
};

// Turns the ITS off and on again with an empty queue, and LPIs with all of them enabled. Collection 0 is the
// first VCPU. Returns false if the ITS does not execute commands. `its->registers` and `its->memory`, aligned
// to ITS_PAGE_BYTES, must be set.
bool its_start(struct its *its);

// Executes a command. Returns false if the ITS does not.
bool its_do(struct its *its, const uint64_t command[ITS_COMMAND_WORDS]);

// Maps events 0 to `count` - 1 of a device to LPIs from `lpi` on. `count` is a power of two, 2 to 32.
bool its_map(struct its *its, uint32_t device, uint32_t count, uint32_t lpi);

// The address of the MSI-X table in a function's BAR, and MSI-X enabled; 0: the function has none. `config`
// is the function's configuration space.
uint64_t msix_enable(uint64_t config);

// Sets what message `number` writes where.
void msix_set(uint64_t table, uint32_t number, uint64_t address, uint32_t data);

#endif
