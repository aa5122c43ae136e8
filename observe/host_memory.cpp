// SPDX-License-Identifier: Apache-2.0
// Converts host addresses to physical ones, and checks the result; see the header.
#include "observe/host_memory.h"

#include <cstring>

#include <sys/uio.h>
#include <unistd.h>

namespace bulkhead::observe {

std::optional<machine::phys_addr> host_memory::locate(const void *host, std::uint64_t virtual_address)
{
    if (host == nullptr) {
        return std::nullopt; // fetched from a device
    }
    const auto host_address = reinterpret_cast<std::uint64_t>(host);
    std::uint64_t base = base_.load(std::memory_order_acquire);
    if (base == 0) {
        const auto offset = ram_.offset_of(machine::phys_addr{virtual_address});
        if (!offset) {
            return std::nullopt; // boot ROM, before anything ran in RAM
        }
        const std::uint64_t found = host_address - *offset;
        base = base_.compare_exchange_strong(base, found) ? found : base;
    }
    return ram_.address_at(host_address - base);
}

void host_memory::verify(machine::phys_addr address, std::uint64_t value, unsigned bytes)
{
    const auto offset = ram_.offset_of(address);
    const std::uint64_t base = base_.load(std::memory_order_acquire);
    if (!offset || base == 0 || bytes > sizeof(value)) {
        return;
    }
    // Reads through the kernel: a wrong base must be reported, and must not crash the emulator.
    std::uint64_t there = 0;
    const iovec local{&there, bytes};
    const iovec remote{reinterpret_cast<void *>(base + *offset), bytes};
    const ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    checked_.fetch_add(1, std::memory_order_relaxed);
    if (got == static_cast<ssize_t>(bytes) && std::memcmp(&there, &value, bytes) == 0) {
        agreed_.fetch_add(1, std::memory_order_relaxed);
    }
}

bool host_memory::verified() const
{
    const std::uint64_t checked = stores_checked();
    return checked > 0 && stores_agreed() * 10 >= checked * 9;
}

} // namespace bulkhead::observe
