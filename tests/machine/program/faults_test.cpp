// SPDX-License-Identifier: Apache-2.0
// The owner of stage 2 decides what happens at an access that cannot be made: it maps the page and the
// program continues as if the access had succeeded, whether a callback announced the access or not. Issue 4,
// S1.
#include <cstring>
#include <gtest/gtest.h>

#include "machine/program/stack.h"
#include "tests/machine/program/run.h"

namespace bulkhead::machine::test::faults_test {
namespace {

constexpr std::uint64_t first_ipa = 0x100000;
constexpr std::uint64_t to_pa = 0x200000 - first_ipa;

// Maps each page of a megabyte at its first use; reading maps it for reading only.
class on_demand final : public fault_handler {
public:
    explicit on_demand(window &space) : space_(space) {}
    void resolve(const fault &what) override
    {
        EXPECT_TRUE(what.ipa.has_value());
        const std::uint64_t page = *what.ipa & ~(page_bytes - 1);
        const bool write = what.kind == access_kind::write;
        const auto bad = space_.map({{{page, {page + to_pa}, {page_bytes}}}}, {.writable = write});
        EXPECT_FALSE(bad.has_value()) << bad->reason;
        (what.bytes == 0 ? unannounced : write ? writes : reads) += 1;
    }
    int reads = 0;
    int writes = 0;
    int unannounced = 0;

private:
    window &space_;
};

std::uint64_t result;
void set_result(std::uint64_t value)
{
    result = value;
}
void not_here()
{
    ADD_FAILURE() << "no call of these tests' kernels";
}

const void *symbol(std::string_view name)
{
    if (name == "machine_result") {
        return reinterpret_cast<const void *>(&set_result);
    }
    if (name.starts_with("machine_") && runtime_symbol(name) == nullptr) {
        return reinterpret_cast<const void *>(&not_here);
    }
    return runtime_symbol(name);
}

class faults : public testing::Test {
protected:
    faults()
    {
        EXPECT_FALSE(space.map({{{first_ipa, {first_ipa + to_pa}, {program_bytes}}}}, {}).has_value());
        EXPECT_FALSE(program.load_data().has_value());
        space.unmap(first_ipa, {program_bytes});
        here.see(space);
        here.on = &whole->core_at({0});
        here.faults = &owner;
        catch_faults();
    }

    std::uint64_t run(std::string kernel, std::string n)
    {
        std::array<char *, 3> arguments = {kernel.data(), kernel.data(), n.data()};
        // main's arguments are in the host's memory: no page to map, no time.
        here.free_first = 0;
        here.free_bytes = ~std::uint64_t{0};
        std::byte *top = expect_made(make_stack(space, 0, {0x10000}, first_ipa + program_bytes - 0x10000));
        void *left = nullptr;
        whole->core_at({0}).start([&](core &) {
            enter_execution(&here);
            call_program(program.entry(), 3, reinterpret_cast<std::uint64_t>(arguments.data()), top, &left);
            enter_execution(nullptr);
        });
        whole->timeline().run(for_ever);
        return result;
    }

    ram memory = make_ram();
    std::unique_ptr<simulated_machine> whole = make_machine(small_machine(1));
    window space = expect_made(
        window::make(memory, {first_ipa, {program_bytes}, image::below(), stack_space({0x10000})}));
    image file = read_image(KERNELS_IMAGE);
    instance program = expect_made(instance::place(file, space, symbol));
    on_demand owner{space};
    execution here;
};

TEST_F(faults, a_page_is_mapped_at_its_first_access)
{
    EXPECT_EQ(run("fill", "4000"), 0U); // four pages: reads them all, then writes them
    EXPECT_GE(owner.reads, 4);
    EXPECT_GE(owner.writes, 4);
    EXPECT_LE(owner.reads + owner.writes, 16) << "once a page, not once an access";
    EXPECT_EQ(owner.unannounced, 0);
}

TEST_F(faults, a_page_that_was_mapped_for_reading_is_asked_for_again_at_a_write)
{
    EXPECT_EQ(run("globals", "3"), 42U + 3 + 7);
    const int before = owner.writes;
    EXPECT_EQ(run("fill", "4000"), 0U); // reads it all first, then writes
    EXPECT_GT(owner.writes, before);
}

TEST_F(faults, accesses_without_a_callback_are_resolved_and_tried_again)
{
    EXPECT_EQ(run("unannounced", "8192"), 0U);
    EXPECT_EQ(owner.unannounced, 1);
    // The program's registers are unchanged: the next access after it works too.
    EXPECT_EQ(run("unannounced", "40960"), 0U);
    EXPECT_EQ(owner.unannounced, 2);
}

} // namespace
} // namespace bulkhead::machine::test::faults_test
