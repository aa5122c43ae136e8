// SPDX-License-Identifier: Apache-2.0
// A lock for work of some hundred instructions that several VCPU threads do millions of times a second. A
// waiter spins for about as long as the work takes before it yields the host's core: a mutex would put the
// waiter to sleep and wake it again, which costs more than the work. Meets BasicLockable.
#pragma once

#include <atomic>
#include <thread>

namespace bulkhead::observe {

class brief_lock {
public:
    void lock()
    {
        for (unsigned tries = 0; taken_.exchange(true, std::memory_order_acquire); ++tries) {
            while (taken_.load(std::memory_order_relaxed)) {
                if (++tries % spins_before_yield == 0) {
                    std::this_thread::yield(); // the lock's holder may be waiting for this core
                }
            }
        }
    }

    void unlock() { taken_.store(false, std::memory_order_release); }

private:
    static constexpr unsigned spins_before_yield = 200;

    std::atomic<bool> taken_{false};
};

} // namespace bulkhead::observe
