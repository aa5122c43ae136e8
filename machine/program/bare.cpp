// SPDX-License-Identifier: Apache-2.0
// See bare.h. The program's window begins at its lowest IPA and contains, in this order: text and constants
// as they would lie on the board, data, free memory, stack.
#include "machine/program/bare.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "machine/program/stack.h"
#include "machine/program/text.h"

namespace bulkhead::machine {

namespace {

constexpr std::uint64_t up_to_pages(std::uint64_t bytes)
{
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

constexpr std::uint64_t ended_early = ~std::uint64_t{0};

} // namespace

result<std::unique_ptr<bare_program>> bare_program::make(const image &file, const ram &memory, core &on,
                                                         setup wanted)
{
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t end = 0;
    for (const mapping_run &run : wanted.memory) {
        first = std::min(first, run.ipa);
        end = std::max(end, run.ipa + run.bytes.value);
    }
    if (first >= end) {
        return refusal{"a program without memory"};
    }
    result<window> space = window::make(
        memory, {first, {end - first}, image::below(), stack_space({up_to_pages(wanted.stack.value)})});
    if (auto *bad = std::get_if<refusal>(&space)) {
        return *std::move(bad);
    }
    std::unique_ptr<bare_program> made(
        new bare_program(on, std::move(wanted), std::get<window>(std::move(space))));
    if (auto bad = made->load(file)) {
        return *std::move(bad);
    }
    if (auto bad = made->translate()) {
        return *std::move(bad);
    }
    return made;
}

bare_program::bare_program(core &on, setup wanted, window space)
    : on_(on), setup_(std::move(wanted)), space_(std::move(space))
{
    execution_.see(space_);
    execution_.on = &on_;
    execution_.faults = this;
}

std::optional<refusal> bare_program::load(const image &file)
{
    if (auto bad = space_.map(setup_.memory, {})) {
        return bad;
    }
    result<instance> placed = instance::place(file, space_, symbol);
    if (auto *bad = std::get_if<refusal>(&placed)) {
        return *std::move(bad);
    }
    program_ = std::make_unique<instance>(std::get<instance>(std::move(placed)));
    execution_.text = program_->text();
    if (auto bad = program_->load_data()) {
        return bad;
    }
    const window::shape &shape = space_.layout();
    const byte_count stack{up_to_pages(setup_.stack.value)};
    const std::uint64_t end = shape.first + shape.bytes.value;
    free_ipa_ = up_to_pages(program_->data_ipa() + file.data_bytes().value);
    if (end < stack.value || end - stack.value < free_ipa_) {
        return refusal{sentence("the program needs ", free_ipa_ - shape.first + stack.value,
                                " bytes with its stack; it has ", shape.bytes.value)};
    }
    free_end_ = end - stack.value;
    result<std::byte *> top = make_stack(space_, 0, stack, free_end_);
    if (auto *bad = std::get_if<refusal>(&top)) {
        return *std::move(bad);
    }
    stack_top_ = std::get<std::byte *>(top);
    return std::nullopt;
}

std::optional<refusal> bare_program::translate()
{
    if (!setup_.space) {
        return std::nullopt;
    }
    result<address_space> tables = address_space::make(*setup_.space);
    if (auto *bad = std::get_if<refusal>(&tables)) {
        return std::move(*bad);
    }
    auto made = translated_program::make(std::get<address_space>(std::move(tables)), space_, on_);
    if (auto *bad = std::get_if<refusal>(&made)) {
        return std::move(*bad);
    }
    translated_ = std::get<std::unique_ptr<translated_program>>(std::move(made));
    translated_->enter(execution_);
    return std::nullopt;
}

void bare_program::start(picoseconds begin)
{
    catch_faults();
    on_.start([this, begin](core &) {
        if (begin > on_.clock()) {
            on_.spend(begin - on_.clock());
        }
        run();
    });
}

void bare_program::run()
{
    enter_execution(&execution_);
    std::byte *top = stack_top_;
    char **arguments = copy_arguments(top);
    const std::uint64_t value = call_program(program_->entry(), setup_.arguments.size(),
                                             reinterpret_cast<std::uint64_t>(arguments), top, &left_);
    left_ = nullptr;
    enter_execution(nullptr);
    report_.ended = !report_.trouble.has_value();
    report_.status = static_cast<int>(value);
    report_.result = value_.value_or(static_cast<std::uint32_t>(value));
}

// As a program finds them on Linux: pointers at the stack's top, characters above.
char **bare_program::copy_arguments(std::byte *&top) const
{
    std::vector<char *> pointers;
    for (const std::string &argument : setup_.arguments) {
        top -= argument.size() + 1;
        std::memcpy(top, argument.c_str(), argument.size() + 1);
        pointers.push_back(reinterpret_cast<char *>(top));
    }
    pointers.push_back(nullptr);
    top -= pointers.size() * sizeof(char *);
    top -= reinterpret_cast<std::uint64_t>(top) % 16;
    std::memcpy(top, pointers.data(), pointers.size() * sizeof(char *));
    return reinterpret_cast<char **>(top);
}

std::string bare_program::describe(const fault &what) const
{
    const std::string where = program_->has_text(what.code) ? program_->describe(what.code) : "the runtime";
    if (what.on_stack) {
        return "stack overflow in " + where;
    }
    const std::string access = sentence(what.kind == access_kind::read ? "a read" : "a write", " in ", where);
    if (what.ipa) {
        return sentence(access, " of memory that it does not own: IPA ", hex{*what.ipa});
    }
    if (what.address < page_bytes) {
        return sentence(access, " through a null pointer (", hex{what.address}, ")");
    }
    // Distances within the program's memory are the same in each run, unlike host addresses.
    const auto low = reinterpret_cast<std::uint64_t>(space_.host(space_.layout().first));
    return sentence(access, " outside of its memory, ", hex{what.address - low}, " from its begin");
}

// Objects on the program's stack are not destroyed, so none may own a resource.
void bare_program::resolve(const fault &what)
{
    report_.trouble = describe(what);
    leave_program(left_, ended_early);
}

// --- The program's calls ---

bare_program &bare_program::running()
{
    return static_cast<bare_program &>(*current_execution()->faults);
}

void bare_program::write(const char *text, std::uint64_t bytes)
{
    const auto address = reinterpret_cast<std::uint64_t>(text);
    const page_view &pages = running().execution_.space->view();
    const std::uint64_t size = pages.pages * page_bytes;
    if (address - pages.low >= size || bytes > size - (address - pages.low)) {
        running().report_.trouble = "machine_write of text outside of its memory";
        leave_program(running().left_, ended_early);
    }
    running().report_.output.append(text, bytes);
}

void bare_program::note(std::uint32_t id)
{
    bare_program &self = running();
    self.report_.marks.push_back({id, self.on_.clock()});
}

std::uint64_t bare_program::clock_ps()
{
    return running().on_.clock().value;
}

void *bare_program::own_memory(std::uint64_t *bytes)
{
    const bare_program &self = running();
    *bytes = self.free_end_ - self.free_ipa_;
    return self.space_.host(self.free_ipa_);
}

void bare_program::set_result(std::uint64_t value)
{
    running().value_ = value;
}

void bare_program::exit(int status)
{
    leave_program(running().left_, static_cast<std::uint32_t>(status));
}

const void *bare_program::symbol(std::string_view name)
{
    struct call {
        std::string_view name;
        const void *function;
    };
    static const call calls[] = {
        {"machine_write", reinterpret_cast<const void *>(&bare_program::write)},
        {"machine_mark", reinterpret_cast<const void *>(&bare_program::note)},
        {"machine_clock_ps", reinterpret_cast<const void *>(&bare_program::clock_ps)},
        {"machine_memory", reinterpret_cast<const void *>(&bare_program::own_memory)},
        {"machine_result", reinterpret_cast<const void *>(&bare_program::set_result)},
        {"machine_exit", reinterpret_cast<const void *>(&bare_program::exit)},
    };
    const auto *found = std::ranges::find(calls, name, &call::name);
    return found == std::end(calls) ? runtime_symbol(name) : found->function;
}

} // namespace bulkhead::machine
