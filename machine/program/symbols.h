// SPDX-License-Identifier: Apache-2.0
// The names of the runtime's functions that instrumented code calls, as lists: callbacks.cpp defines the
// functions and symbols.cpp passes them to the loader. No other file includes it.
#pragma once

#include <cstddef>
#include <cstdint>

#define BULKHEAD_ACCESS_SIZES(of) of(1) of(2) of(4) of(8) of(16)
#define BULKHEAD_ATOMIC_SIZES(of) of(8) of(16) of(32) of(64)

extern "C" {

#define BULKHEAD_DECLARE_ACCESS(size)                                                                        \
    void __tsan_read##size(std::uint64_t at);                                                                \
    void __tsan_write##size(std::uint64_t at);                                                               \
    void __tsan_volatile_read##size(std::uint64_t at);                                                       \
    void __tsan_volatile_write##size(std::uint64_t at);                                                      \
    void __tsan_unaligned_read##size(std::uint64_t at);                                                      \
    void __tsan_unaligned_write##size(std::uint64_t at);                                                     \
    void __tsan_unaligned_volatile_read##size(std::uint64_t at);                                             \
    void __tsan_unaligned_volatile_write##size(std::uint64_t at);
BULKHEAD_ACCESS_SIZES(BULKHEAD_DECLARE_ACCESS)
#undef BULKHEAD_DECLARE_ACCESS

#define BULKHEAD_DECLARE_ATOMIC(bits)                                                                        \
    std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t *at, int order);       \
    void __tsan_atomic##bits##_store(volatile std::uint##bits##_t *at, std::uint##bits##_t value,            \
                                     int order);                                                             \
    BULKHEAD_DECLARE_EXCHANGE(bits, exchange)                                                                \
    BULKHEAD_DECLARE_EXCHANGE(bits, fetch_add)                                                               \
    BULKHEAD_DECLARE_EXCHANGE(bits, fetch_sub)                                                               \
    BULKHEAD_DECLARE_EXCHANGE(bits, fetch_and)                                                               \
    BULKHEAD_DECLARE_EXCHANGE(bits, fetch_or)                                                                \
    BULKHEAD_DECLARE_EXCHANGE(bits, fetch_xor)                                                               \
    BULKHEAD_DECLARE_EXCHANGE(bits, fetch_nand)                                                              \
    BULKHEAD_DECLARE_COMPARE(bits, compare_exchange_strong)                                                  \
    BULKHEAD_DECLARE_COMPARE(bits, compare_exchange_weak)                                                    \
    std::uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                          \
        volatile std::uint##bits##_t *at, std::uint##bits##_t expected, std::uint##bits##_t wanted,          \
        int order, int otherwise);
#define BULKHEAD_DECLARE_EXCHANGE(bits, name)                                                                \
    std::uint##bits##_t __tsan_atomic##bits##_##name(volatile std::uint##bits##_t *at,                       \
                                                     std::uint##bits##_t value, int order);
#define BULKHEAD_DECLARE_COMPARE(bits, name)                                                                 \
    bool __tsan_atomic##bits##_##name(volatile std::uint##bits##_t *at, std::uint##bits##_t *expected,       \
                                      std::uint##bits##_t wanted, int order, int otherwise);
BULKHEAD_ATOMIC_SIZES(BULKHEAD_DECLARE_ATOMIC)
#undef BULKHEAD_DECLARE_ATOMIC
#undef BULKHEAD_DECLARE_EXCHANGE
#undef BULKHEAD_DECLARE_COMPARE

void __tsan_read_range(std::uint64_t at, std::uint64_t bytes);
void __tsan_write_range(std::uint64_t at, std::uint64_t bytes);
void __tsan_init();
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

void machine_read1_waited(std::uint64_t at);
void machine_read2_waited(std::uint64_t at);
void machine_read4_waited(std::uint64_t at);
void machine_read8_waited(std::uint64_t at);

void *machine_memcpy(void *to, const void *from, std::size_t bytes);
void *machine_memmove(void *to, const void *from, std::size_t bytes);
void *machine_memset(void *to, int value, std::size_t bytes);
int machine_memcmp(const void *left, const void *right, std::size_t bytes);

// program_entry/: called by a basic block when the budget is spent; preserves all registers.
void machine_program_spent();
// Called by a basic block that must be fetched, with the address of its word in r10; also preserves all
// registers.
void machine_program_fetch();
}
