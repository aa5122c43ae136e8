// SPDX-License-Identifier: Apache-2.0
// Addresses that the loader binds an image's undefined symbols to. An image that needs another name is
// refused at loading.
#include "machine/program/symbols.h"

#include <unordered_map>

#include "machine/budget.h"
#include "machine/program/execution.h"

namespace bulkhead::machine {

namespace {

using table = std::unordered_map<std::string_view, const void *>;

#define ADD(name) all.emplace(#name, reinterpret_cast<const void *>(&name));
#define ADD_ACCESS(size)                                                                                     \
    ADD(__tsan_read##size)                                                                                   \
    ADD(__tsan_write##size)                                                                                  \
    ADD(__tsan_volatile_read##size)                                                                          \
    ADD(__tsan_volatile_write##size)                                                                         \
    ADD(__tsan_unaligned_read##size)                                                                         \
    ADD(__tsan_unaligned_write##size)                                                                        \
    ADD(__tsan_unaligned_volatile_read##size)                                                                \
    ADD(__tsan_unaligned_volatile_write##size)
#define ADD_ATOMIC(bits)                                                                                     \
    ADD(__tsan_atomic##bits##_load)                                                                          \
    ADD(__tsan_atomic##bits##_store)                                                                         \
    ADD(__tsan_atomic##bits##_exchange)                                                                      \
    ADD(__tsan_atomic##bits##_fetch_add)                                                                     \
    ADD(__tsan_atomic##bits##_fetch_sub)                                                                     \
    ADD(__tsan_atomic##bits##_fetch_and)                                                                     \
    ADD(__tsan_atomic##bits##_fetch_or)                                                                      \
    ADD(__tsan_atomic##bits##_fetch_xor)                                                                     \
    ADD(__tsan_atomic##bits##_fetch_nand)                                                                    \
    ADD(__tsan_atomic##bits##_compare_exchange_strong)                                                       \
    ADD(__tsan_atomic##bits##_compare_exchange_weak)                                                         \
    ADD(__tsan_atomic##bits##_compare_exchange_val)

table all_symbols()
{
    table all;
    BULKHEAD_ACCESS_SIZES(ADD_ACCESS)
    BULKHEAD_ATOMIC_SIZES(ADD_ATOMIC)
    ADD(__tsan_read_range)
    ADD(__tsan_write_range)
    ADD(__tsan_init)
    ADD(__tsan_atomic_thread_fence)
    ADD(__tsan_atomic_signal_fence)
    ADD(machine_running)
    ADD(machine_program_spent)
    ADD(machine_program_fetch)
    ADD(machine_read1_waited)
    ADD(machine_read2_waited)
    ADD(machine_read4_waited)
    ADD(machine_read8_waited)
    all.emplace("memcpy", reinterpret_cast<const void *>(&machine_memcpy));
    all.emplace("memmove", reinterpret_cast<const void *>(&machine_memmove));
    all.emplace("memset", reinterpret_cast<const void *>(&machine_memset));
    all.emplace("memcmp", reinterpret_cast<const void *>(&machine_memcmp));
    return all;
}

} // namespace

const void *runtime_symbol(std::string_view name)
{
    static const table known = all_symbols();
    const auto found = known.find(name);
    return found == known.end() ? nullptr : found->second;
}

} // namespace bulkhead::machine
