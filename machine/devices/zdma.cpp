// SPDX-License-Identifier: Apache-2.0
// A transfer is one loop, go_on(), which is called whenever progress may have become possible: it reads lines
// while the channel may have more in flight, and writes lines that have arrived, in order.
#include "machine/devices/zdma.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace bulkhead::machine::devices {

namespace {

namespace reg = zdma_register;

constexpr std::uint32_t every_interrupt = 0xFFF;
constexpr std::uint32_t ctrl0_list = 1U << 6U;
constexpr std::uint32_t ctrl0_mode = 3U << 4U;
constexpr std::uint32_t ctrl1_issue = 0x1F;
constexpr std::uint32_t ctrl2_enable = 1U << 0U;
constexpr std::uint32_t status_done = 0;
constexpr std::uint32_t status_busy = 2;
constexpr std::uint32_t status_error = 3;

constexpr std::uint32_t size_mask = 0x3FFFFFFF;
constexpr std::uint32_t control_linked = 1U << 1U; // the descriptor contains the address of the next
constexpr std::uint32_t control_interrupt = 1U << 2U;
constexpr std::uint32_t control_stop = 2U << 3U;
constexpr std::uint32_t control_command = 3U << 3U;
constexpr std::uint32_t linear_descriptor_bytes = 16;
constexpr std::uint32_t linked_descriptor_bytes = 32;
constexpr std::uint64_t address_mask = (std::uint64_t{1} << 49U) - 1;

constexpr memory_client::ticket own_ticket = memory_client::ticket{1} << 63U; // no ticket that memory gives

constexpr std::size_t index_of(std::uint32_t offset)
{
    return offset / 4;
}

std::uint64_t pair(std::uint32_t low, std::uint32_t high)
{
    return (std::uint64_t{high} << 32U | low) & address_mask;
}

} // namespace

zdma_channel::zdma_channel(const settings &wanted, surroundings around)
    : settings_(wanted), around_(std::move(around)),
      line_bytes_(std::min<std::uint64_t>(around_.memory.line_bytes(), most_line_bytes))
{
    registers_[index_of(reg::imr)] = every_interrupt;
    registers_[index_of(reg::ctrl1)] = ctrl1_issue;
}

// --- Registers ---

std::uint32_t zdma_channel::read(std::uint32_t offset)
{
    if (offset % 4 != 0 || offset > reg::ctrl2) {
        raise(invalid_access);
        return 0;
    }
    switch (offset) {
    case reg::ier:
    case reg::ids:
        return 0;
    case reg::status:
        return busy_ ? status_busy : (failed_ ? status_error : status_done);
    case reg::source_interrupts:
    case reg::destination_interrupts:
        return std::exchange(registers_[index_of(offset)], 0);
    default:
        return registers_[index_of(offset)];
    }
}

void zdma_channel::write(std::uint32_t offset, std::uint32_t value)
{
    if (offset % 4 != 0 || offset > reg::ctrl2) {
        raise(invalid_access);
        return;
    }
    std::uint32_t &own = registers_[index_of(offset)];
    switch (offset) {
    case reg::isr:
        own &= ~value;
        break;
    case reg::ier:
        registers_[index_of(reg::imr)] &= ~value;
        break;
    case reg::ids:
        registers_[index_of(reg::imr)] |= value & every_interrupt;
        break;
    case reg::imr:
    case reg::status:
    case reg::source_interrupts:
    case reg::destination_interrupts:
        return; // read-only
    case reg::ctrl2:
        own = value & ctrl2_enable;
        if ((value & ctrl2_enable) != 0 && !busy_) {
            start();
        }
        return;
    default:
        own = value;
        return;
    }
    raise(0);
}

void zdma_channel::raise(std::uint32_t bits)
{
    std::uint32_t &isr = registers_[index_of(reg::isr)];
    isr |= bits;
    const bool high = (isr & ~registers_[index_of(reg::imr)] & every_interrupt) != 0;
    if (high != line_) {
        line_ = high;
        around_.line(high);
    }
}

// --- A transfer ---

void zdma_channel::start()
{
    const std::uint32_t ctrl0 = registers_[index_of(reg::ctrl0)];
    const bool list = (ctrl0 & ctrl0_list) != 0;
    const auto side_of = [this, list](std::uint32_t words, std::uint32_t first, std::uint32_t fetch_error,
                                      std::uint32_t data_error) {
        const auto word = [this](std::uint32_t offset) { return registers_[index_of(offset)]; };
        side one;
        one.list = list;
        one.fetch_error = fetch_error;
        one.data_error = data_error;
        if (list) {
            one.next = pair(word(first), word(first + 4));
        } else {
            one.address = pair(word(words), word(words + 4));
            one.left = word(words + 8) & size_mask;
            one.control = word(words + 12) | control_stop;
        }
        return one;
    };
    busy_ = true;
    failed_ = false;
    ++run_;
    pieces_.clear();
    waits_for_room_ = going_on_ = ending_ = false;
    read_admitted_ = write_admitted_ = false;
    source_ = side_of(reg::source_words, reg::source_start, source_descriptor_error, read_error);
    destination_ =
        side_of(reg::destination_words, reg::destination_start, destination_descriptor_error, write_error);
    read_from_ = write_from_ = last_write_ = now() + settings_.start;
    around_.timeline.at(read_from_, [this, list, mode = ctrl0 & ctrl0_mode, run = run_] {
        if (run != run_) {
            return;
        }
        if (mode != 0) {
            fail(invalid_access);
        } else if (!list || (next_descriptor(source_) && next_descriptor(destination_))) {
            go_on();
        }
    });
}

// Reads the next descriptor of a list. Its access takes its place on the bus and in the memory system, but
// the channel does not wait for it: it fetches ahead.
bool zdma_channel::next_descriptor(side &one)
{
    const std::uint64_t at = one.next;
    const auto head = around_.bytes(phys_addr{at}, byte_count{linear_descriptor_bytes}, access_kind::read);
    if (at % linear_descriptor_bytes != 0 || head.empty()) {
        fail(one.fetch_error);
        return false;
    }
    std::array<std::uint32_t, 4> words{};
    std::memcpy(words.data(), head.data(), sizeof words);
    one.address = pair(words[0], words[1]);
    one.left = words[2] & size_mask;
    one.control = words[3];
    if (one.left == 0) {
        fail(one.fetch_error); // a list of empty descriptors need not end
        return false;
    }
    one.next = at + linear_descriptor_bytes;
    if ((one.control & control_linked) != 0) {
        const auto link =
            around_.bytes(phys_addr{at + linear_descriptor_bytes},
                          byte_count{linked_descriptor_bytes - linear_descriptor_bytes}, access_kind::read);
        if (link.empty()) {
            fail(one.fetch_error);
            return false;
        }
        std::uint64_t next = 0;
        std::memcpy(&next, link.data(), sizeof next);
        one.next = next & address_mask;
    }
    (void)around_.memory.admit(around_.way, access_kind::read, now()); // later descriptors wait for it
    around_.memory.fetch_past(around_.way, request(access_kind::read, at), *this, now(), settings_.coherent);
    return true;
}

void zdma_channel::go_on()
{
    going_on_ = false;
    if (!busy_) {
        return;
    }
    read_lines();
    if (busy_) {
        write_lines();
    }
    if (busy_ && !ending_ && source_ended() && pieces_.empty() && busy_) {
        finish();
    }
}

// Calls go_on() again at `when`. At most one such call is scheduled: the earliest.
void zdma_channel::go_on_at(picoseconds when)
{
    if (going_on_ && going_on_at_ <= when) {
        return;
    }
    going_on_ = true;
    going_on_at_ = when;
    around_.timeline.at(when, [this, when, run = run_] {
        if (run == run_ && going_on_ && going_on_at_ == when) {
            go_on();
        }
    });
}

// Goes on to the next source descriptor when one is used up. Returns true if there is nothing more to read.
bool zdma_channel::source_ended()
{
    while (busy_ && source_.left == 0) {
        if (source_.list && (source_.control & control_interrupt) != 0) {
            ++registers_[index_of(reg::source_interrupts)];
            raise(source_descriptor_done);
            source_.control &= ~control_interrupt;
        }
        if ((source_.control & control_command) == control_stop) {
            return true;
        }
        next_descriptor(source_);
    }
    return !busy_;
}

void zdma_channel::read_lines()
{
    const std::uint32_t bursts = (registers_[index_of(reg::ctrl1)] & ctrl1_issue) + 1;
    while (!source_ended() && lines_in_flight() < bursts * settings_.burst_lines && !waits_for_room_) {
        if (!read_admitted_) {
            read_admitted_ = true;
            read_from_ = around_.memory.admit(around_.way, access_kind::read, std::max(read_from_, now()));
        }
        if (read_from_ > now()) {
            go_on_at(read_from_);
            return;
        }
        piece next;
        next.address = source_.address;
        next.bytes = up_to_line_end(source_.address, source_.left);
        const auto bytes =
            around_.bytes(phys_addr{source_.address}, byte_count{next.bytes}, access_kind::read);
        if (bytes.empty()) {
            fail(source_.data_error);
            return;
        }
        const memory_system::reply reply = around_.memory.fetch_past(
            around_.way, request(access_kind::read, source_.address), *this, now(), settings_.coherent);
        if (reply.how == memory_system::reply::state::full) {
            waits_for_room_ = true; // room() continues
            return;
        }
        const bool known = reply.how == memory_system::reply::state::known;
        next.id = known ? own_ticket | reads_++ : reply.id();
        pieces_.push_back(next);
        if (known) {
            arrived(next.id, reply.when());
        }
        source_.address += next.bytes;
        source_.left -= next.bytes;
        read_from_ = now() + settings_.line;
        read_admitted_ = false;
    }
}

// The bytes are taken when they arrive, as a device would see them.
void zdma_channel::piece_here(ticket id)
{
    const auto found = std::find_if(pieces_.begin(), pieces_.end(),
                                    [id](const piece &one) { return one.id == id && !one.here; });
    if (found == pieces_.end()) {
        return; // it was a descriptor
    }
    const auto bytes = around_.bytes(phys_addr{found->address}, byte_count{found->bytes}, access_kind::read);
    std::copy(bytes.begin(), bytes.end(), found->data.begin());
    found->here = true;
    go_on();
}

void zdma_channel::write_lines()
{
    while (!pieces_.empty() && pieces_.front().here && !waits_for_room_) {
        while (destination_.left == 0) {
            if ((destination_.control & control_command) == control_stop) {
                fail(destination_descriptor_error); // more to write than there is room for
                return;
            }
            if (!next_descriptor(destination_)) {
                return;
            }
        }
        if (!write_admitted_) {
            write_admitted_ = true;
            write_from_ = around_.memory.admit(around_.way, access_kind::write, std::max(write_from_, now()));
        }
        if (write_from_ > now()) {
            go_on_at(write_from_);
            return;
        }
        piece &head = pieces_.front();
        const std::uint32_t bytes = up_to_line_end(
            destination_.address, std::min<std::uint64_t>(destination_.left, head.bytes - head.written));
        const auto target =
            around_.bytes(phys_addr{destination_.address}, byte_count{bytes}, access_kind::write);
        if (target.empty()) {
            fail(destination_.data_error);
            return;
        }
        if (!around_.memory.has_room(around_.way, *this, around_.label, now())) {
            waits_for_room_ = true;
            return;
        }
        std::copy_n(head.data.begin() + head.written, bytes, target.begin());
        const line_request line = request(access_kind::write, destination_.address);
        last_write_ = settings_.coherent ? around_.memory.write_coherent(line, bytes == line_bytes_, now())
                                         : around_.memory.write_past(around_.way, line, now(), true).gone;
        write_from_ = std::max(last_write_, now() + settings_.line);
        write_admitted_ = false;
        destination_.address += bytes;
        destination_.left -= bytes;
        head.written += bytes;

        std::uint32_t &total = registers_[index_of(reg::total_bytes)];
        total += bytes;
        if (total < bytes) {
            raise(byte_count_overflow);
        }
        if (destination_.left == 0 && destination_.list && (destination_.control & control_interrupt) != 0) {
            ++registers_[index_of(reg::destination_interrupts)];
            raise(destination_descriptor_done);
        }
        if (head.written == head.bytes) {
            pieces_.pop_front();
            go_on_at(now()); // there is room for a further read
        }
    }
}

void zdma_channel::finish()
{
    ending_ = true;
    around_.timeline.at(std::max(last_write_, now()) + settings_.finish, [this, run = run_] {
        if (run == run_ && busy_) {
            busy_ = false;
            registers_[index_of(reg::ctrl2)] = 0;
            raise(done);
        }
    });
}

void zdma_channel::fail(std::uint32_t bits)
{
    busy_ = false;
    failed_ = true;
    pieces_.clear();
    around_.memory.give_up_waiting(*this, now());
    registers_[index_of(reg::ctrl2)] = 0;
    raise(bits);
}

// --- Memory's answers ---

void zdma_channel::arrived(ticket id, picoseconds when)
{
    around_.timeline.at(when, [this, id, run = run_] {
        if (run == run_ && busy_) {
            piece_here(id);
        }
    });
}

void zdma_channel::room(picoseconds when)
{
    if (waits_for_room_) {
        waits_for_room_ = false;
        go_on_at(when);
    }
}

std::optional<written_back> zdma_channel::drop(phys_addr)
{
    return std::nullopt; // it has no cache
}

std::uint32_t zdma_channel::lines_in_flight() const
{
    return static_cast<std::uint32_t>(pieces_.size());
}

line_request zdma_channel::request(access_kind kind, std::uint64_t address) const
{
    return {.line = phys_addr{line_of(address)},
            .kind = kind,
            .owner = around_.owner,
            .master = static_cast<std::uint32_t>(around_.way.master),
            .mpam = around_.label};
}

std::uint64_t zdma_channel::line_of(std::uint64_t address) const
{
    return address / line_bytes_ * line_bytes_;
}

std::uint32_t zdma_channel::up_to_line_end(std::uint64_t address, std::uint64_t bytes) const
{
    return static_cast<std::uint32_t>(std::min(bytes, line_bytes_ - address % line_bytes_));
}

} // namespace bulkhead::machine::devices
