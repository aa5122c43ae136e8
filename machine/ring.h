// SPDX-License-Identifier: Apache-2.0
// A queue in a ring that grows when it must and never shrinks: no allocation and no moving of elements while
// its length settles. For small trivially copyable elements; it must never be used across threads.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace bulkhead::machine {

template <class T> class ring {
public:
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] const T &front() const { return slots_[first_]; }
    // The i-th from the front.
    [[nodiscard]] T &operator[](std::size_t i) { return slots_[(first_ + i) & (slots_.size() - 1)]; }

    void push_back(const T &added)
    {
        if (count_ == slots_.size()) {
            grow();
        }
        (*this)[count_++] = added;
    }
    void pop_front()
    {
        first_ = (first_ + 1) & (slots_.size() - 1);
        --count_;
    }
    // Behind the last element that `after(element, added)` does not say to come after it: cheap if that is
    // near the end.
    template <class After> void insert(const T &added, const After &after)
    {
        push_back(added);
        std::size_t place = count_ - 1;
        for (; place > 0 && after((*this)[place - 1], added); --place) {
            (*this)[place] = (*this)[place - 1];
        }
        (*this)[place] = added;
    }

private:
    static constexpr std::size_t first_size = 16; // a power of two, as all sizes

    void grow()
    {
        std::vector<T> larger(slots_.empty() ? first_size : slots_.size() * 2);
        for (std::size_t i = 0; i < count_; ++i) {
            larger[i] = (*this)[i];
        }
        slots_ = std::move(larger);
        first_ = 0;
    }

    std::vector<T> slots_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

} // namespace bulkhead::machine
