// SPDX-License-Identifier: Apache-2.0
// The runtime behind the compiler's callbacks: instrumented code calls one of these functions before each
// load and store. The page is checked first, then the core is called, which may switch to other fibers and
// return much later. Atomics are performed here. This code must not be instrumented by AddressSanitizer and
// must not keep state of its own.
#include <cstring>
#include <type_traits>

#include "machine/budget.h"
#include "machine/program/execution.h"
#include "machine/program/symbols.h"

// For the report of a fault: where in the program the callback was called.
#define CALLER reinterpret_cast<std::uint64_t>(__builtin_return_address(0))

namespace bulkhead::machine {

namespace {

// Larger copies are made as on the target: by pairs of 64-bit registers.
constexpr std::uint64_t pair_bytes = 16;

template <access_kind kind> constexpr page_entry fast()
{
    return kind == access_kind::read ? page::fast_read : page::fast_write;
}

template <access_kind kind, bool waited>
[[gnu::always_inline]] inline void charge(const execution &here, phys_addr where, std::uint32_t bytes)
{
    if constexpr (waited) {
        here.on->dependent_read(where, bytes);
    } else {
        here.on->access(where, bytes, kind);
    }
}

// The entry of an address's page, or the entry that stands for memory outside of the window.
page_entry entry_of(const execution &here, std::uint64_t address)
{
    const page_view &all = here.space->view();
    const std::uint64_t number = (address - all.low) / page_bytes;
    if (address >= all.low && number < all.pages) {
        return all.entries[number];
    }
    return address - here.free_first < here.free_bytes ? page::free : page::nothing;
}

// Returns true if the translation took time: the page must be checked again.
bool translated(const execution &here, std::uint64_t address, access_kind kind, std::uint64_t caller)
{
    return here.translator != nullptr &&
           here.translator->translate(address, here.space->ipa_of(address).value_or(address), kind, caller);
}

// An access to one page that the fast path did not handle.
template <access_kind kind, bool waited>
[[gnu::noinline]] void touch_slowly(std::uint64_t address, std::uint32_t bytes, std::uint64_t caller)
{
    constexpr page_entry forbidden = kind == access_kind::read ? page::no_read : page::no_write;
    for (;;) {
        execution &here = *current_execution();
        const page_entry entry = entry_of(here, address);
        if ((entry & forbidden) != 0) {
            here.faults->resolve({address, here.space->ipa_of(address), kind, bytes, caller, false});
        } else if ((entry & page::free) != 0) {
            return;
        } else if (!translated(here, address, kind, caller)) {
            if (entry_of(here, address) != entry) {
                continue; // other fibers have run
            }
            const phys_addr where{page::frame(entry).value | (address % page_bytes)};
            if ((entry & page::past) != 0) {
                here.on->past_caches(where, bytes, kind);
            } else {
                charge<kind, waited>(here, where, bytes);
            }
            return;
        }
    }
}

// An access that stays within its page. `waited`: the program needs the value for its next address.
template <access_kind kind, bool waited = false>
[[gnu::always_inline]] inline void touch_here(std::uint64_t address, std::uint32_t bytes,
                                              std::uint64_t caller)
{
    const execution &here = *static_cast<const execution *>(bulkhead_fiber_word);
    const std::uint64_t number = (address - here.pages.low) / page_bytes;
    if (number < here.pages.pages) [[likely]] {
        const page_entry entry = here.pages.entries[number];
        if ((entry & fast<kind>()) != 0) [[likely]] {
            charge<kind, waited>(here, phys_addr{page::frame(entry).value | (address % page_bytes)}, bytes);
            return;
        }
    }
    touch_slowly<kind, waited>(address, bytes, caller);
}

template <access_kind kind> void touch_any(std::uint64_t address, std::uint64_t bytes, std::uint64_t caller)
{
    while (bytes > 0) {
        const std::uint64_t in_line = pair_bytes - address % pair_bytes;
        const std::uint64_t now = bytes < in_line ? bytes : in_line;
        touch_here<kind>(address, static_cast<std::uint32_t>(now), caller);
        address += now;
        bytes -= now;
    }
}

// Counts one instruction for each pair of registers; the instrumented program has a single one for the copy
// of a structure.
template <access_kind kind> void touch_range(std::uint64_t address, std::uint64_t bytes, std::uint64_t caller)
{
    current_execution()->on->instructions(bytes / pair_bytes);
    touch_any<kind>(address, bytes, caller);
}

std::uint64_t number_of(const volatile void *pointer)
{
    return reinterpret_cast<std::uint64_t>(pointer);
}

// A read-modify-write is a loop of load-exclusive and store-exclusive: it counts three instructions more than
// the call.
template <class Value, class Change>
[[gnu::always_inline]] inline Value exchange(volatile Value *where, std::uint64_t caller, Change &&change)
{
    current_execution()->on->instructions(3);
    touch_here<access_kind::write>(number_of(where), sizeof(Value), caller);
    const Value old = *where;
    *where = static_cast<Value>(change(old));
    return old;
}

template <class Value>
[[gnu::always_inline]] inline bool compare_exchange(volatile Value *where, Value *expected, Value wanted,
                                                    std::uint64_t caller)
{
    current_execution()->on->instructions(3);
    touch_here<access_kind::write>(number_of(where), sizeof(Value), caller);
    const Value old = *where;
    if (old == *expected) {
        *where = wanted;
        return true;
    }
    *expected = old;
    return false;
}

} // namespace

void touch(std::uint64_t address, std::uint64_t bytes, access_kind kind)
{
    if (kind == access_kind::read) {
        touch_any<access_kind::read>(address, bytes, CALLER);
    } else {
        touch_any<access_kind::write>(address, bytes, CALLER);
    }
}

} // namespace bulkhead::machine

using namespace bulkhead::machine;

extern "C" {

// Flattened: the core's hit path is inlined into each of them, whatever its size.
#define DEFINE_ACCESS(size)                                                                                  \
    [[gnu::flatten]] void __tsan_read##size(std::uint64_t at)                                                \
    {                                                                                                        \
        touch_here<access_kind::read>(at, size, CALLER);                                                     \
    }                                                                                                        \
    [[gnu::flatten]] void __tsan_write##size(std::uint64_t at)                                               \
    {                                                                                                        \
        touch_here<access_kind::write>(at, size, CALLER);                                                    \
    }                                                                                                        \
    [[gnu::flatten]] void __tsan_volatile_read##size(std::uint64_t at)                                       \
    {                                                                                                        \
        touch_here<access_kind::read>(at, size, CALLER);                                                     \
    }                                                                                                        \
    [[gnu::flatten]] void __tsan_volatile_write##size(std::uint64_t at)                                      \
    {                                                                                                        \
        touch_here<access_kind::write>(at, size, CALLER);                                                    \
    }                                                                                                        \
    void __tsan_unaligned_read##size(std::uint64_t at)                                                       \
    {                                                                                                        \
        touch_any<access_kind::read>(at, size, CALLER);                                                      \
    }                                                                                                        \
    void __tsan_unaligned_write##size(std::uint64_t at)                                                      \
    {                                                                                                        \
        touch_any<access_kind::write>(at, size, CALLER);                                                     \
    }                                                                                                        \
    void __tsan_unaligned_volatile_read##size(std::uint64_t at)                                              \
    {                                                                                                        \
        touch_any<access_kind::read>(at, size, CALLER);                                                      \
    }                                                                                                        \
    void __tsan_unaligned_volatile_write##size(std::uint64_t at)                                             \
    {                                                                                                        \
        touch_any<access_kind::write>(at, size, CALLER);                                                     \
    }
BULKHEAD_ACCESS_SIZES(DEFINE_ACCESS)

void __tsan_read_range(std::uint64_t at, std::uint64_t bytes)
{
    touch_range<access_kind::read>(at, bytes, CALLER);
}
void __tsan_write_range(std::uint64_t at, std::uint64_t bytes)
{
    touch_range<access_kind::write>(at, bytes, CALLER);
}

// The compiler's constructors would call it before main.
void __tsan_init() {}

#define DEFINE_ATOMIC(bits)                                                                                  \
    std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t *at, int)              \
    {                                                                                                        \
        touch_here<access_kind::read>(number_of(at), bits / 8, CALLER);                                      \
        return *at;                                                                                          \
    }                                                                                                        \
    void __tsan_atomic##bits##_store(volatile std::uint##bits##_t *at, std::uint##bits##_t value, int)       \
    {                                                                                                        \
        touch_here<access_kind::write>(number_of(at), bits / 8, CALLER);                                     \
        *at = value;                                                                                         \
    }                                                                                                        \
    DEFINE_EXCHANGE(bits, exchange, value)                                                                   \
    DEFINE_EXCHANGE(bits, fetch_add, old + value)                                                            \
    DEFINE_EXCHANGE(bits, fetch_sub, old - value)                                                            \
    DEFINE_EXCHANGE(bits, fetch_and, old &value)                                                             \
    DEFINE_EXCHANGE(bits, fetch_or, old | value)                                                             \
    DEFINE_EXCHANGE(bits, fetch_xor, old ^ value)                                                            \
    DEFINE_EXCHANGE(bits, fetch_nand, ~(old & value))                                                        \
    DEFINE_COMPARE(bits, compare_exchange_strong)                                                            \
    DEFINE_COMPARE(bits, compare_exchange_weak)                                                              \
    std::uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(volatile std::uint##bits##_t *at,         \
                                                                   std::uint##bits##_t expected,             \
                                                                   std::uint##bits##_t wanted, int, int)     \
    {                                                                                                        \
        compare_exchange(at, &expected, wanted, CALLER);                                                     \
        return expected;                                                                                     \
    }
#define DEFINE_EXCHANGE(bits, name, expression)                                                              \
    std::uint##bits##_t __tsan_atomic##bits##_##name(volatile std::uint##bits##_t *at,                       \
                                                     std::uint##bits##_t value, int)                         \
    {                                                                                                        \
        return exchange(at, CALLER, [=]([[maybe_unused]] std::uint##bits##_t old) { return expression; });   \
    }
#define DEFINE_COMPARE(bits, name)                                                                           \
    bool __tsan_atomic##bits##_##name(volatile std::uint##bits##_t *at, std::uint##bits##_t *expected,       \
                                      std::uint##bits##_t wanted, int, int)                                  \
    {                                                                                                        \
        return compare_exchange(at, expected, wanted, CALLER);                                               \
    }
BULKHEAD_ATOMIC_SIZES(DEFINE_ATOMIC)

// scripts/instrument/dependence.py puts them in the place of __tsan_readN.
[[gnu::flatten]] void machine_read1_waited(std::uint64_t at)
{
    touch_here<access_kind::read, true>(at, 1, CALLER);
}
[[gnu::flatten]] void machine_read2_waited(std::uint64_t at)
{
    touch_here<access_kind::read, true>(at, 2, CALLER);
}
[[gnu::flatten]] void machine_read4_waited(std::uint64_t at)
{
    touch_here<access_kind::read, true>(at, 4, CALLER);
}
[[gnu::flatten]] void machine_read8_waited(std::uint64_t at)
{
    touch_here<access_kind::read, true>(at, 8, CALLER);
}

void machine_budget_spent()
{
    current_execution()->on->budget_spent();
}

// Called between two instructions, as above: the block has not begun.
void machine_fetch(std::uint16_t *missing)
{
    const execution &here = *current_execution();
    core &on = *here.on;
    const std::uint64_t bit = machine_running.fetches;
    const std::shared_ptr<program_text> text = here.text;
    if (!text) {
        *missing = static_cast<std::uint16_t>(*missing & ~bit);
        return;
    }
    const program_text::part block = text->entered(missing, bit);
    const std::uint64_t line = on.settings().l1i->line_bytes;
    for (std::uint64_t at = block.begin & ~(line - 1); at < block.end; at += line) {
        const std::uint64_t ipa = text->address_of(at);
        const auto where =
            here.translator != nullptr ? here.translator->translate_code(ipa) : here.space->translate(ipa);
        if (where) {
            on.fetch(*where, text, ipa);
        }
    }
}

// There is one host thread, so stores are visible at once.
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

// Calls made by the program, or by the compiler in it. They move a pair of registers at a time, each checked
// right before it is moved.
void *machine_memcpy(void *to, const void *from, std::size_t bytes)
{
    auto *out = static_cast<std::byte *>(to);
    const auto *in = static_cast<const std::byte *>(from);
    for (std::size_t done = 0; done < bytes; done += pair_bytes) {
        const std::size_t now = bytes - done < pair_bytes ? bytes - done : pair_bytes;
        current_execution()->on->instructions(2);
        touch_any<access_kind::read>(number_of(in + done), now, CALLER);
        touch_any<access_kind::write>(number_of(out + done), now, CALLER);
        std::memmove(out + done, in + done, now); // for machine_memmove() too
    }
    return to;
}

void *machine_memmove(void *to, const void *from, std::size_t bytes)
{
    auto *out = static_cast<std::byte *>(to);
    const auto *in = static_cast<const std::byte *>(from);
    if (out <= in || out >= in + bytes) {
        return machine_memcpy(to, from, bytes);
    }
    for (std::size_t left = bytes; left > 0;) {
        const std::size_t now = left < pair_bytes ? left : pair_bytes;
        left -= now;
        current_execution()->on->instructions(2);
        touch_any<access_kind::read>(number_of(in + left), now, CALLER);
        touch_any<access_kind::write>(number_of(out + left), now, CALLER);
        std::memmove(out + left, in + left, now);
    }
    return to;
}

void *machine_memset(void *to, int value, std::size_t bytes)
{
    auto *out = static_cast<std::byte *>(to);
    for (std::size_t done = 0; done < bytes; done += pair_bytes) {
        const std::size_t now = bytes - done < pair_bytes ? bytes - done : pair_bytes;
        current_execution()->on->instructions(1);
        touch_any<access_kind::write>(number_of(out + done), now, CALLER);
        std::memset(out + done, value, now);
    }
    return to;
}

int machine_memcmp(const void *left, const void *right, std::size_t bytes)
{
    const auto *one = static_cast<const unsigned char *>(left);
    const auto *other = static_cast<const unsigned char *>(right);
    for (std::size_t done = 0; done < bytes; done += pair_bytes) {
        const std::size_t now = bytes - done < pair_bytes ? bytes - done : pair_bytes;
        current_execution()->on->instructions(4);
        touch_any<access_kind::read>(number_of(one + done), now, CALLER);
        touch_any<access_kind::read>(number_of(other + done), now, CALLER);
        if (const int difference = std::memcmp(one + done, other + done, now)) {
            return difference;
        }
    }
    return 0;
}
}
