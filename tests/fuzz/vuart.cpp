// SPDX-License-Identifier: Apache-2.0
// Target `vuart`: guests' virtual UARTs and the real UART. Any register access, output that imitates another
// domain's, a UART that accepts nothing, input with escapes. The stream is then read as the run's console
// reader does: each text must come from the domain of its tag, complete and in order.
#include "machine.h"

#include <cctype>
#include <deque>
#include <string_view>

namespace {

using namespace bulkhead_fuzz;

constexpr uint64_t data_register = uart_ipa;
constexpr uint64_t flag_register = uart_ipa + 0x18;
constexpr uint64_t receive_empty = 0x10;
constexpr uint64_t transmit_full = 0x20;
constexpr uint32_t hypervisor_timer = 26;
constexpr uint8_t escape = 0x1D;
constexpr uint32_t most_printed = 320; // more than a ring takes, if lines are short
constexpr std::string_view names[] = {"control", "linux"};

struct Session {
    explicit Session(const Options &options) : machine(options), console_core(options.console_core) {}

    Machine machine;
    uint32_t console_core;
    uint32_t focus = 0; // the first with a console
    bool escaped = false;
    uint32_t printed = 0;
    std::array<std::string, domains> written;         // letters that must be printed
    std::array<std::deque<uint8_t>, domains> to_read; // typed, not read
    std::array<bool, domains> lost{}; // wrote into a full FIFO, or restarted: nothing is checked
};

// Letters of domain 0 are lower case, those of domain 1 upper case. Guests do not write characters that begin
// the visible form of a control character, so that the stream can be read.
uint8_t own_letter(uint32_t domain, uint8_t character)
{
    if (character == '^' || character == '\\') {
        return '_';
    }
    return static_cast<uint8_t>(domain == 0 ? std::tolower(character) : std::toupper(character));
}

// A letter that cannot be the end of an escape sequence that is not printed.
bool is_counted(uint8_t character)
{
    return character < 0x80 && std::isalpha(character) != 0 &&
           std::string_view("DJKmn").find(static_cast<char>(character)) == std::string_view::npos;
}

void print(Session &session, uint32_t core, uint8_t character)
{
    const uint32_t domain = core % domains;

    if (!session.machine.runs(core) || session.printed == most_printed) {
        return;
    }
    session.printed++;
    character = own_letter(domain, character);
    if ((session.machine.read(core, flag_register, 4) & transmit_full) != 0) {
        session.lost[domain] = true;
    }
    session.machine.write(core, data_register, 4, character);
    if (is_counted(character)) {
        session.written[domain].push_back(static_cast<char>(character));
    }
}

void type(Session &session, uint8_t character)
{
    const bool escaped = session.escaped;

    if (session.to_read[session.focus].size() > VUART_INPUT_BYTES / 2) {
        return;
    }
    session.machine.type(character);
    session.escaped = !escaped && character == escape;
    if (escaped && std::isdigit(character) != 0) {
        const uint32_t wanted = character - uint32_t{'0'};
        session.focus = wanted < domains ? wanted : session.focus;
    } else if (escaped && character == 'n') {
        session.focus = (session.focus + 1) % domains;
    } else if (!session.escaped && (!escaped || character == escape)) {
        session.to_read[session.focus].push_back(character);
    }
}

void receive(Session &session, uint32_t core)
{
    const uint32_t domain = core % domains;
    auto &expected = session.to_read[domain];

    if (!session.machine.runs(core) || (session.machine.read(core, flag_register, 4) & receive_empty) != 0) {
        return;
    }
    const uint64_t character = session.machine.read(core, data_register, 4) & 0xFF;
    if (session.lost[domain]) {
        return;
    }
    require(!expected.empty() && expected.front() == character, "a guest reads what was not typed for it");
    expected.pop_front();
}

void pass_time(Session &session, uint64_t ticks)
{
    const uint32_t core = session.console_core;

    session.machine.pass_time(ticks);
    const bool rings =
        (fake_core_sysreg(core, SYSREG_ID_CNTHP_CTL_EL2) & 1) != 0 &&
        fake_core_sysreg(core, SYSREG_ID_CNTHP_CVAL_EL2) <= fake_core_sysreg(core, SYSREG_ID_CNTPCT_EL0);
    if (rings) {
        session.machine.raise(core, hypervisor_timer);
        session.machine.interrupt(core);
    }
}

void step(Session &session, Input &input)
{
    const uint8_t operation = input.u8();
    const uint32_t core = operation >> 6;
    Machine &machine = session.machine;

    switch (operation & 15) {
    case 0:
    case 1:
    case 2:
        print(session, core, input.u8());
        break;
    case 3: { // many at once
        const uint8_t character = input.u8();
        const uint8_t how = input.u8();
        machine.together(core, [&] {
            for (uint32_t i = how < 0xF0 ? how & 31u : 250u; i > 0; i--) {
                print(session, core, character);
            }
        });
        break;
    }
    case 4:
    case 5:
        type(session, (operation & 0x20) != 0 ? escape : input.u8());
        break;
    case 6:
        receive(session, core);
        break;
    case 7:
    case 8: // the UART's interrupt
        machine.raise(session.console_core, console_spi);
        machine.interrupt(session.console_core);
        break;
    case 9:
        machine.set_uart_full((operation & 0x20) != 0);
        break;
    case 10:
        pass_time(session, uint64_t{input.u8()} << (operation >> 4 & 3) * 8);
        break;
    case 11: { // any register but the data's
        const uint8_t how = input.u8();
        const uint64_t at = uart_ipa + (input.u16() & 0xFFF);
        const unsigned bytes = 1u << (how & 3);
        if (at / 4 == data_register / 4 || at % bytes != 0) {
            break;
        }
        session.lost[core % domains] = session.lost[core % domains] || bytes == 8;
        if ((how & 4) != 0) {
            machine.write(core, at, bytes, input.number());
        } else {
            (void)machine.read(core, at, bytes);
        }
        break;
    }
    case 12:
    case 13:
        machine.interrupt(core);
        break;
    case 14: { // reset, off, on
        constexpr uint64_t calls[] = {0x84000009, 0x84000002, 0xC4000003, 0xC4000003};
        session.lost[core % domains] = true;
        (void)machine.call(core, false, input.pick(calls), 1, memory_ipa, 0);
        break;
    }
    default:
        machine.acknowledge(core);
        machine.end_innermost(core);
        break;
    }
}

// Without the visible forms of control characters (^X) and of bytes from 0x80 on (\\xNN).
std::string without_forms(std::string_view text)
{
    std::string found;

    for (size_t i = 0; i < text.size(); i++) {
        if (text[i] == '^' || text[i] == '\\') {
            i += text[i] == '^' ? 1 : 3;
            require(i < text.size(), "half of a visible form");
        } else {
            found.push_back(text[i]);
        }
    }
    return found;
}

// The domain of a tag "[name ..." or "[name+ ...", or `domains` for the hypervisor's own.
uint32_t tag_at(std::string_view text)
{
    require(!text.empty() && text[0] == '[', "a line without a tag");
    const std::string_view name = text.substr(1, text.find_first_of(" +", 1) - 1);
    for (uint32_t i = 0; i < domains; i++) {
        if (name == names[i]) {
            return i;
        }
    }
    require(name == "bulkhead", "a tag of nobody");
    return domains;
}

void check_stream(const Session &session, std::string_view stream)
{
    std::array<std::string, domains> seen;

    while (!stream.empty()) {
        const uint32_t source = tag_at(stream);
        const size_t text = stream.find("] ");
        const size_t end = stream.find('\r');
        require(text < end, "a tag that does not end");
        size_t column = 0;
        for (char character : stream.substr(text + 2, end - text - 2)) {
            require((character >= ' ' && character <= '~') || character == '\b',
                    "a control character of a guest");
            require(character != '\b' || column != 0, "a backspace into the tag");
            column = character == '\b' ? column - 1 : column + 1;
        }
        for (char character : without_forms(stream.substr(text, end - text))) {
            const auto byte = static_cast<uint8_t>(character);
            if (source < domains && std::isalpha(byte) != 0) {
                require(own_letter(source, byte) == byte, "text of one domain under another's tag");
            }
            if (source < domains && is_counted(byte)) {
                seen[source].push_back(character);
            }
        }
        stream.remove_prefix(end == std::string_view::npos ? stream.size() : end + 1);
        if (!stream.empty() && stream[0] == '\n') {
            stream.remove_prefix(1);
        }
    }
    for (uint32_t i = 0; i < domains; i++) {
        require(session.lost[i] || seen[i] == session.written[i], "output is lost, doubled or out of order");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    Input input(data, bytes);
    const uint8_t first = input.u8();
    Session session(options_of(first));

    while (!input.empty() && !session.machine.ended()) {
        step(session, input);
    }
    session.machine.set_uart_full(false);
    if ((first & 0x60) == 0x60) {
        session.machine.end_all();
    } else {
        session.machine.flush_console();
    }
    check_stream(session, session.machine.uart_output());
    return 0;
}
