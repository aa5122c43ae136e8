// SPDX-License-Identifier: Apache-2.0
// A queue in a ring buffer that grows when necessary and never shrinks: once its length is stable, nothing is
// allocated or moved. For small trivially copyable elements; must never be used across threads.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace bulkhead::machine {

template <class T> class ring {
public:
    [[nodiscard]] bool empty() const { return first_ == end_; }
    [[nodiscard]] std::size_t size() const { return end_ - first_; }
    [[nodiscard]] const T &front() const { return slots_[first_ & mask_]; }

    void push_back(const T &added)
    {
        if (size() > mask_) [[unlikely]] {
            grow();
        }
        slots_[end_++ & mask_] = added;
    }
    void pop_front() { ++first_; }
    [[nodiscard]] const T &at(std::size_t place) const { return slots_[(first_ + place) & mask_]; }
    // Moves an element to the front; the order of the others stays.
    void bring_to_front(std::size_t place)
    {
        const T chosen = at(place);
        for (; place != 0; --place) {
            slots_[(first_ + place) & mask_] = slots_[(first_ + place - 1) & mask_];
        }
        slots_[first_ & mask_] = chosen;
    }
    // Inserts after the last element for which `after(element, added)` is false; cheap if that is near the
    // end. `after`: whether the element belongs after `added`.
    template <class After> void insert(const T &added, const After &after)
    {
        push_back(added);
        if (size() > 1 && after(slots_[(end_ - 2) & mask_], added)) [[unlikely]] {
            sink(added, after);
        }
    }

private:
    static constexpr std::size_t first_size = 16; // a power of two, as are all sizes

    // Moves the last element to its place.
    template <class After> [[gnu::noinline]] void sink(T added, const After &after)
    {
        std::size_t place = end_ - 1;
        for (; place != first_ && after(slots_[(place - 1) & mask_], added); --place) {
            slots_[place & mask_] = slots_[(place - 1) & mask_];
        }
        slots_[place & mask_] = added;
    }

    [[gnu::noinline]] void grow()
    {
        std::vector<T> larger(slots_.size() * 2);
        for (std::size_t i = 0; i < size(); ++i) {
            larger[i] = slots_[(first_ + i) & mask_];
        }
        end_ = size();
        first_ = 0;
        slots_ = std::move(larger);
        mask_ = slots_.size() - 1;
    }

    // Positions increase for ever; their lowest bits are the slot.
    std::vector<T> slots_ = std::vector<T>(first_size);
    std::size_t mask_ = first_size - 1;
    std::size_t first_ = 0;
    std::size_t end_ = 0;
};

} // namespace bulkhead::machine
