// SPDX-License-Identifier: Apache-2.0
// Physical memory of the machine under target `virtqueue`: frames of three guests and of nobody, mixed by
// color. Judges each access of the broker to guests' memory by a layout of its own, which it does not get
// from the code under test. There is one machine at a time.
#pragma once

#include "broker_program.h"

#include <cstdint>

namespace bulkhead_fuzz::frames {

constexpr uint32_t guest_count = 3;
// Memory of each guest: four pages in frames of its own color; one page directly behind them, elsewhere; and
// one page 64 KiB above the first, so that the broker keeps both at the same place of its cache.
constexpr uint64_t base = 0x4000'0000;
constexpr uint64_t near_bytes = 0x5000;
constexpr uint64_t far = base + 0x1'0000;
constexpr uint64_t far_bytes = 0x1000;

// All memory is zero, except for frames of nobody.
void reset();

// Tells the broker where the memory of the guests is, as EL2 does.
void describe(broker_map &map);

// `memory` is that of the guest with this index. Accesses to memory that was not assigned are not judged.
void assign(uint32_t guest, const guest_memory *memory);

// Called before each read by the broker, and before each access; set by the target.
extern void (*before_read)();
extern void (*before_access)(uint32_t guest, bool writes);

bool owns(uint64_t at, uint64_t bytes);

// Accesses of a guest to its own memory, which it owns.
void store(uint32_t guest, uint64_t at, const void *from, uint32_t bytes);
void load(uint32_t guest, uint64_t at, void *to, uint32_t bytes);

// Moves bytes as an engine would, by physical addresses, and checks that they are the guests'.
void move(uint32_t from_guest, uint64_t from_physical, uint32_t to_guest, uint64_t to_physical,
          uint32_t bytes);

// Checks that nothing has changed but what guests stored, what was moved, and what the broker was asked to
// write.
void require_as_written();

} // namespace bulkhead_fuzz::frames
