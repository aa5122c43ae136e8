// SPDX-License-Identifier: Apache-2.0
//
// What the self-tests need before they measure. Parameters: `core_kib` [4096]: memory that each core reads or
// writes, a power of two, `row_stride_kib` [0]: distance of two rows of one DRAM bank, `window_us` [1000]:
// time in which a rate is measured.
#include "guests/programs/self_test/self_test.h"
#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/timer.h"

enum { least_core_bytes = 1 << 16, least_rows = 8 };

enum { quiet_us = 20000 }; // for the output of the hypervisor's start

bool self_test_begin(struct self_test *test)
{
    struct memory_area arena = memory_arena();
    uint64_t skipped = -arena.start % MEMORY_BLOCK_BYTES;

    test->memory = (uint8_t *)(uintptr_t)(arena.start + skipped);
    test->bytes = arena.bytes > skipped ? arena.bytes - skipped : 0;
    test->core_bytes = param("core_kib", 4096) * 1024;
    test->row_stride = param("row_stride_kib", 0) * 1024;
    test->window_us = param("window_us", 1000);
    test->cpus = board()->cpu_count;
    if ((test->core_bytes & (test->core_bytes - 1)) != 0 || test->core_bytes < least_core_bytes ||
        test->window_us == 0) {
        console_write("self-test: a parameter is out of range\n");
        return false;
    }
    if (!gic_init()) {
        console_write("self-test: no usable interrupt controller\n");
        return false;
    }
    if (test->core_bytes * test->cpus > test->bytes ||
        test->row_stride * least_rows * test->cpus > test->bytes) {
        console_write("self-test: too little memory\n");
        return false;
    }
    gic_enable_private(team_sgi);
    gic_enable_private(board()->virtual_timer_intid);
    return true;
}

void self_test_ready(void)
{
    console_write("bulkhead: ready\n");
    timer_sleep_until(timer_now() + ticks_of_us(quiet_us));
}
