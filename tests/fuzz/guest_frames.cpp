// SPDX-License-Identifier: Apache-2.0
// Where frames of the guests are, and the checks of each access: guest_frames.h.
#include "guest_frames.h"
#include "require.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace bulkhead_fuzz::frames {

namespace {

constexpr uint64_t page = BH_PAGE_BYTES;
constexpr uint64_t first = 0x8000'0000; // physical
constexpr uint64_t color_bits = 0x3000; // four colors; nobody has the last one
constexpr uint32_t colors = 4;
constexpr uint32_t far_frame = 16;
constexpr uint32_t border_frame = 20; // of guest 0; those of the others follow
constexpr uint32_t frame_count = 24;
constexpr uint32_t segment_count = 3; // of a guest
constexpr uint8_t of_nobody = 0xA5;

using Memory = std::array<uint8_t, frame_count * page>;

alignas(page) Memory memory;
Memory expected;
std::array<const guest_memory *, guest_count> assigned;

// The frame of the page that contains this byte of a guest, which owns it.
uint32_t frame_of(uint32_t guest, uint64_t at)
{
    const auto number = static_cast<uint32_t>((at - base) / page);

    if (at >= far) {
        return far_frame + guest;
    }
    return number < 4 ? number * colors + guest : border_frame + guest;
}

uint32_t owner_of(uint64_t frame)
{
    return static_cast<uint32_t>(frame < border_frame ? frame % colors : frame - border_frame);
}

// Calls what(offset in memory, offset in the access, bytes) for each part within a page.
template <typename What> void in_pages(uint32_t guest, uint64_t at, uint64_t bytes, What what)
{
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t in_page = (at + done) % page;
        const uint64_t run = std::min(page - in_page, bytes - done);

        what(frame_of(guest, at + done) * page + in_page, done, run);
        done += run;
    }
}

uint32_t guest_of(const guest_memory *of)
{
    return static_cast<uint32_t>(std::find(assigned.begin(), assigned.end(), of) - assigned.begin());
}

void write(Memory &to, uint32_t guest, uint64_t at, const void *from, uint32_t bytes)
{
    in_pages(guest, at, bytes, [&](uint64_t place, uint64_t done, uint64_t run) {
        std::memcpy(to.data() + place, static_cast<const uint8_t *>(from) + done, run);
    });
}

void color(color_set_record &set, uint32_t mask)
{
    set.word[0] = mask;
}

uint64_t place_of(uint32_t guest, uint64_t physical, uint32_t bytes)
{
    const uint64_t place = physical - first;

    require(place < memory.size() && bytes <= page - place % page && owner_of(place / page) == guest,
            "a transfer outside of its guest's memory");
    return place;
}

} // namespace

void (*before_read)();
void (*before_access)(uint32_t guest, bool writes);

void reset()
{
    memory.fill(0);
    for (uint32_t frame = 0; frame < frame_count; frame++) {
        if (owner_of(frame) >= guest_count) {
            std::memset(memory.data() + frame * page, of_nobody, page);
        }
    }
    expected = memory;
    assigned = {};
}

void describe(broker_map &map)
{
    map.color_bits = color_bits;
    color(map.color_sets[guest_count], (1u << colors) - 1);
    for (uint32_t guest = 0; guest < guest_count; guest++) {
        manifest_segment *segments = &map.segments[guest * segment_count];

        color(map.color_sets[guest], 1u << guest);
        segments[0] = {
            .ipa = base, .bytes = 4 * page, .pa = first + guest * page, .color_set = guest, .flags = 0};
        segments[1] = {.ipa = base + 4 * page,
                       .bytes = page,
                       .pa = first + (border_frame + guest) * page,
                       .color_set = guest_count,
                       .flags = 0};
        segments[2] = {.ipa = far,
                       .bytes = page,
                       .pa = first + (far_frame + guest) * page,
                       .color_set = guest,
                       .flags = 0};
        map.domains[guest].first_segment = guest * segment_count;
        map.domains[guest].segment_count = segment_count;
    }
}

void assign(uint32_t guest, const guest_memory *of)
{
    assigned[guest] = of;
}

bool owns(uint64_t at, uint64_t bytes)
{
    const uint64_t last = bytes == 0 ? at : at + (bytes - 1);

    return last >= at && ((at >= base && last < base + near_bytes) || (at >= far && last < far + far_bytes));
}

void store(uint32_t guest, uint64_t at, const void *from, uint32_t bytes)
{
    write(memory, guest, at, from, bytes);
    write(expected, guest, at, from, bytes);
}

void load(uint32_t guest, uint64_t at, void *to, uint32_t bytes)
{
    in_pages(guest, at, bytes, [&](uint64_t place, uint64_t done, uint64_t run) {
        std::memcpy(static_cast<uint8_t *>(to) + done, memory.data() + place, run);
    });
}

void move(uint32_t from_guest, uint64_t from_physical, uint32_t to_guest, uint64_t to_physical,
          uint32_t bytes)
{
    const uint64_t from = place_of(from_guest, from_physical, bytes);
    const uint64_t to = place_of(to_guest, to_physical, bytes);

    std::memmove(memory.data() + to, memory.data() + from, bytes);
    std::memmove(expected.data() + to, expected.data() + from, bytes);
}

void require_as_written()
{
    require(memory == expected, "the broker has written elsewhere than it was asked to");
}

} // namespace bulkhead_fuzz::frames

// The machine and, between the exchange and the broker's memory.c, the judge.
extern "C" {

using namespace bulkhead_fuzz;
using namespace bulkhead_fuzz::frames;

uint64_t guest_memory_at(uint64_t address)
{
    const uint64_t place = address - BH_BROKER_WINDOW - first;

    require(place < memory.size() && owner_of(place / page) < guest_count,
            "the broker accesses memory of a domain without a socket");
    return reinterpret_cast<uintptr_t>(memory.data() + place);
}

bool __real_guest_memory_owns(const guest_memory *, uint64_t at, uint64_t bytes);
bool __real_guest_memory_read(guest_memory *, uint64_t at, void *to, uint32_t bytes);
bool __real_guest_memory_write(guest_memory *, uint64_t at, const void *from, uint32_t bytes);
uint64_t __real_guest_memory_run(const guest_memory *, uint64_t at, uint64_t most, uint64_t *physical);

bool __wrap_guest_memory_owns(const guest_memory *of, uint64_t at, uint64_t bytes)
{
    const bool owned = __real_guest_memory_owns(of, at, bytes);

    require(owned == owns(at, bytes), "the broker is wrong about what a guest owns");
    return owned;
}

bool __wrap_guest_memory_read(guest_memory *of, uint64_t at, void *to, uint32_t bytes)
{
    const uint32_t guest = guest_of(of);

    require(guest < guest_count, "a read of memory of no guest");
    before_read();
    before_access(guest, false);
    const bool done = __real_guest_memory_read(of, at, to, bytes);
    require(done == owns(at, bytes), "a read that a guest does not own, or a refused one that it owns");
    if (done) {
        in_pages(guest, at, bytes, [&](uint64_t place, uint64_t offset, uint64_t run) {
            require(std::memcmp(static_cast<uint8_t *>(to) + offset, memory.data() + place, run) == 0,
                    "a read of other bytes than the guest's");
        });
    }
    return done;
}

bool __wrap_guest_memory_write(guest_memory *of, uint64_t at, const void *from, uint32_t bytes)
{
    const uint32_t guest = guest_of(of);

    require(guest < guest_count, "a write to memory of no guest");
    before_access(guest, true);
    const bool done = __real_guest_memory_write(of, at, from, bytes);
    require(done == owns(at, bytes), "a write that a guest does not own, or a refused one that it owns");
    if (done) {
        write(expected, guest, at, from, bytes);
    }
    return done;
}

uint64_t __wrap_guest_memory_run(const guest_memory *of, uint64_t at, uint64_t most, uint64_t *physical)
{
    const uint32_t guest = guest_of(of);

    require(guest < guest_count && owns(at, most), "a transfer of what the guest does not own");
    const uint64_t run = __real_guest_memory_run(of, at, most, physical);
    require(*physical == first + frame_of(guest, at) * page + at % page, "a transfer at another address");
    require(run != 0 && run <= most && run <= page - at % page, "a transfer beyond what is contiguous");
    return run;
}
}
