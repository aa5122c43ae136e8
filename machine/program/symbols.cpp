// SPDX-License-Identifier: Apache-2.0
// What the loader binds an image's undefined symbols to. A name that is not here is refused at loading.
#include "machine/program/symbols.h"

#include <unordered_map>

#include "machine/budget.h"
#include "machine/program/execution.h"

namespace bulkhead::machine {

namespace {

using table = std::unordered_map<std::string_view, const void *>;

table all_symbols()
{
#define ENTRY(name) {#name, reinterpret_cast<const void *>(&name)},
#define ACCESS_ENTRIES(size)                                                                                 \
    ENTRY(__tsan_read##size)                                                                                 \
    ENTRY(__tsan_write##size)                                                                                \
    ENTRY(__tsan_volatile_read##size) ENTRY(__tsan_volatile_write##size) ENTRY(__tsan_unaligned_read##size)  \
        ENTRY(__tsan_unaligned_write##size) ENTRY(__tsan_unaligned_volatile_read##size)                      \
            ENTRY(__tsan_unaligned_volatile_write##size)
#define ATOMIC_ENTRIES(bits)                                                                                 \
    ENTRY(__tsan_atomic##bits##_load)                                                                        \
    ENTRY(__tsan_atomic##bits##_store)                                                                       \
    ENTRY(__tsan_atomic##bits##_exchange) ENTRY(__tsan_atomic##bits##_fetch_add)                             \
        ENTRY(__tsan_atomic##bits##_fetch_sub) ENTRY(__tsan_atomic##bits##_fetch_and)                        \
            ENTRY(__tsan_atomic##bits##_fetch_or) ENTRY(__tsan_atomic##bits##_fetch_xor)                     \
                ENTRY(__tsan_atomic##bits##_fetch_nand) ENTRY(__tsan_atomic##bits##_compare_exchange_strong) \
                    ENTRY(__tsan_atomic##bits##_compare_exchange_weak)                                       \
                        ENTRY(__tsan_atomic##bits##_compare_exchange_val)
    return {
        BULKHEAD_ACCESS_SIZES(ACCESS_ENTRIES) BULKHEAD_ATOMIC_SIZES(ATOMIC_ENTRIES) ENTRY(__tsan_read_range)
            ENTRY(__tsan_write_range) ENTRY(__tsan_init) ENTRY(__tsan_atomic_thread_fence)
                ENTRY(__tsan_atomic_signal_fence) ENTRY(machine_budget) ENTRY(machine_read1_waited)
                    ENTRY(machine_read2_waited) ENTRY(machine_read4_waited) ENTRY(machine_read8_waited) ENTRY(
                        machine_program_spent){"memcpy", reinterpret_cast<const void *>(&machine_memcpy)},
        {"memmove", reinterpret_cast<const void *>(&machine_memmove)},
        {"memset", reinterpret_cast<const void *>(&machine_memset)},
        {"memcmp", reinterpret_cast<const void *>(&machine_memcmp)},
    };
}

} // namespace

const void *runtime_symbol(std::string_view name)
{
    static const table known = all_symbols();
    const auto found = known.find(name);
    return found == known.end() ? nullptr : found->second;
}

} // namespace bulkhead::machine
