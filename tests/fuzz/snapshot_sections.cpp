// SPDX-License-Identifier: Apache-2.0
// Copies the sections of snapshot_section.h, whose bounds the linker defines. Compiled without sanitizers and
// builtins: the red zones between variables are copied with them, which a sanitized memcpy() would report.
#include "snapshot.h"

#include <cstddef>
#include <cstdlib>
#include <span>

extern "C" {
#include "arch/hosted/fake_storage.h"

// Weak: at present no variable has an initial value other than zero.
extern uint64_t __start_snapshot_data[] __attribute__((weak));
extern uint64_t __stop_snapshot_data[] __attribute__((weak));
extern uint64_t __start_snapshot_bss[];
extern uint64_t __stop_snapshot_bss[];
}

namespace bulkhead_fuzz {

namespace {

std::span<uint64_t> words(uint64_t *start, const uint64_t *stop)
{
    return {start, static_cast<size_t>(stop - start)};
}

std::span<uint64_t> data()
{
    return words(__start_snapshot_data, __stop_snapshot_data);
}

std::span<uint64_t> bss()
{
    return words(__start_snapshot_bss, __stop_snapshot_bss);
}

uint64_t *device_pages()
{
    return reinterpret_cast<uint64_t *>(fake_storage_pages());
}

void copy(uint64_t *to, const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

std::vector<uint64_t> copied(const uint64_t *from, size_t count)
{
    std::vector<uint64_t> to(count);

    copy(to.data(), from, count);
    return to;
}

} // namespace

// BULKHEAD_FUZZ_BOOT=1 boots for every input, to check that inputs have the same meaning.
bool Snapshot::possible()
{
    static const bool boots = std::getenv("BULKHEAD_FUZZ_BOOT") != nullptr;

    return !boots;
}

Snapshot::Snapshot()
    : data_(copied(data().data(), data().size())), bss_(copied(bss().data(), bss().size())),
      device_pages_(copied(device_pages(), fake_storage_bytes() / sizeof(uint64_t)))
{
}

void Snapshot::restore() const
{
    copy(data().data(), data_.data(), data_.size());
    copy(bss().data(), bss_.data(), bss_.size());
    copy(device_pages(), device_pages_.data(), device_pages_.size());
    fake_storage_set_bytes(device_pages_.size() * sizeof(uint64_t));
    fake_storage_forget_log();
}

} // namespace bulkhead_fuzz
