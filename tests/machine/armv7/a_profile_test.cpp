// SPDX-License-Identifier: Apache-2.0
// Parts of the system level of Armv7-A: banked registers and status registers (DDI 0406C, B1.3), CP15 of a
// Cortex-A9 with its lockdown registers and performance monitors (DDI 0388I, chapters 4 and 11).
#include <map>

#include <gtest/gtest.h>

#include "machine/armv7/a_profile/modes.h"
#include "machine/armv7/a_profile/system_control.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::armv7::a_profile::a_profile_test {
namespace {

using test::for_ever;

// --- Modes ---

class modes_test : public testing::Test {
protected:
    registers state_;
    modes modes_{state_};
};

TEST_F(modes_test, each_mode_has_its_own_stack_and_link_register)
{
    constexpr mode all[] = {mode::user,  mode::fiq,       mode::irq,   mode::supervisor,
                            mode::abort, mode::undefined, mode::system};
    for (const mode one : all) {
        modes_.change_cpsr(static_cast<std::uint32_t>(one), psr_mode);
        state_.r[sp] = static_cast<std::uint32_t>(one) << 8U;
    }
    for (const mode one : all) {
        modes_.change_cpsr(static_cast<std::uint32_t>(one), psr_mode);
        const mode last = one == mode::user ? mode::system : one;
        EXPECT_EQ(state_.r[sp], static_cast<std::uint32_t>(last) << 8U) << "User and System have one";
        EXPECT_EQ(modes_.banked(one, sp), state_.r[sp]);
    }
}

TEST_F(modes_test, fiq_mode_has_r8_to_r12_of_its_own)
{
    state_.r[8] = 1;
    state_.r[7] = 7;
    modes_.change_cpsr(static_cast<std::uint32_t>(mode::fiq), psr_mode);
    state_.r[8] = 2;
    EXPECT_EQ(state_.r[7], 7U);
    EXPECT_EQ(modes_.banked(mode::user, 8), 1U);
    modes_.set_banked(mode::user, 8, 3);
    modes_.change_cpsr(static_cast<std::uint32_t>(mode::irq), psr_mode);
    EXPECT_EQ(state_.r[8], 3U);
    EXPECT_EQ(modes_.banked(mode::fiq, 8), 2U);
}

TEST_F(modes_test, an_exception_saves_all_of_the_status_and_masks_more)
{
    modes_.set_cpsr(0x6000'0000 | psr_t | static_cast<std::uint32_t>(mode::user) | 0x0400'2000);
    const std::uint32_t before = modes_.cpsr();
    EXPECT_TRUE(state_.thumb);
    EXPECT_NE(state_.it, 0);
    modes_.enter(mode::irq, psr_i | psr_a, false, false);
    EXPECT_EQ(modes_.spsr(), before);
    EXPECT_EQ(modes_.cpsr(), 0x6000'0000U | psr_i | psr_a | static_cast<std::uint32_t>(mode::irq));
    modes_.set_cpsr(modes_.spsr());
    EXPECT_EQ(modes_.cpsr(), before);
    EXPECT_FALSE(modes_.has_spsr());
}

TEST_F(modes_test, a_mode_that_does_not_exist_is_not_entered)
{
    modes_.change_cpsr(0x1A, psr_mode); // Hyp
    EXPECT_EQ(modes_.current(), mode::supervisor);
    EXPECT_FALSE(mode_from(0));
}

// --- CP15 ---

class cp15 : public testing::Test {
protected:
    static constexpr std::uint32_t l1_table = 0x4000, l2_table = 0x8000;

    void run(const std::function<void()> &body)
    {
        settings all = test::small_machine(1);
        all.cores[0].l1d = {.size_bytes = 32 * 1024, .ways = 4, .line_bytes = 32, .policy = replacement::lru};
        all.cores[0].l1i = all.cores[0].l1d;
        all.levels[0].cache.line_bytes = 32;
        machine_ = test::make_machine(all);
        words_[l1_table] = l2_table | 1 | 2U << 5U; // domain 2
        for (std::uint32_t i = 0; i < 64; ++i) {
            words_[l2_table + 4 * i] = (0x10'0000 + (i << 12U)) | 2 | 1U << 11U | 3U << 4U | 0xCU;
        }
        mmu_settings wanted;
        wanted.l1 = {.entries = 32};
        wanted.l2 = {.entries = 128,
                     .ways = 2,
                     .lockable_entries = 4,
                     .hit_cycles = 2,
                     .page_shifts = {12, 16, 20, 24}};
        auto unit = test::expect_made(
            mmu::make(wanted, on(), [this](phys_addr where) -> std::optional<std::uint64_t> {
                ++reads_;
                return std::uint64_t{words_[where.value + 4]} << 32U | words_[where.value];
            }));
        mmu_ = &unit;
        control_.emplace(system_control::surroundings{
            .on = on(),
            .translation = unit,
            .peripherals_at = 0xF8F0'0000,
            .translation_changed = [this] { ++changes_; },
            .missing = [this](std::string_view name) { missing_.emplace_back(name); }});
        on().start([&](core &) { body(); });
        machine_->timeline().run(for_ever);
    }
    core &on() { return machine_->core_at({0}); }

    static coprocessor_register named(std::uint32_t opc1, std::uint32_t crn, std::uint32_t crm,
                                      std::uint32_t opc2)
    {
        return {.coprocessor = 15, .opc1 = opc1, .crn = crn, .crm = crm, .opc2 = opc2};
    }
    std::optional<std::uint32_t> mrc(std::uint32_t opc1, std::uint32_t crn, std::uint32_t crm,
                                     std::uint32_t opc2, bool privileged = true)
    {
        return control_->read(named(opc1, crn, crm, opc2), privileged);
    }
    bool mcr(std::uint32_t opc1, std::uint32_t crn, std::uint32_t crm, std::uint32_t opc2,
             std::uint32_t value, bool privileged = true)
    {
        return control_->write(named(opc1, crn, crm, opc2), privileged, value);
    }
    void translate()
    {
        mcr(0, 2, 0, 0, l1_table);
        mcr(0, 3, 0, 0, 0x5555'5555);
        mcr(0, 13, 0, 1, 5); // CONTEXTIDR
        mcr(0, 1, 0, 0, *mrc(0, 1, 0, 0) | 5);
    }
    // Whether a look-up of the address walks.
    bool walks(std::uint32_t address)
    {
        const std::uint64_t before = reads_;
        (void)mmu_->translate(control_->regime(), address, access_kind::read);
        return reads_ != before;
    }

    std::map<std::uint64_t, std::uint32_t> words_;
    std::uint64_t reads_ = 0;
    int changes_ = 0;
    std::vector<std::string> missing_;
    std::unique_ptr<simulated_machine> machine_;
    mmu *mmu_ = nullptr;
    std::optional<system_control> control_;
};

TEST_F(cp15, says_what_core_it_is)
{
    run([&] {
        EXPECT_EQ(mrc(0, 0, 0, 0), 0x413F'C090U);
        EXPECT_EQ(mrc(0, 0, 0, 5), 0x8000'0000U);
        EXPECT_EQ(mrc(0, 0, 0, 3), 0x402U) << "128 entries, four lockable ones";
        mcr(2, 0, 0, 0, 0);
        EXPECT_EQ(*mrc(1, 0, 0, 0) & 0xFFF'FFFFU, 255U << 13U | 3U << 3U | 1U)
            << "256 sets, 4 ways, 32 bytes";
        EXPECT_EQ(mrc(4, 15, 0, 0), 0xF8F0'0000U);
    });
}

TEST_F(cp15, user_mode_has_what_it_is_given_and_no_more)
{
    run([&] {
        mcr(0, 13, 0, 3, 77); // TPIDRURO
        EXPECT_EQ(mrc(0, 13, 0, 3, false), 77U);
        EXPECT_FALSE(mcr(0, 13, 0, 3, 1, false));
        EXPECT_TRUE(mcr(0, 13, 0, 2, 1, false));
        EXPECT_FALSE(mrc(0, 1, 0, 0, false));
        EXPECT_FALSE(mrc(0, 9, 13, 0, false));
        mcr(0, 9, 14, 0, 1);
        EXPECT_TRUE(mrc(0, 9, 13, 0, false));
        EXPECT_TRUE(mcr(0, 7, 10, 5, 0, false)) << "a barrier";
        EXPECT_TRUE(missing_.empty());
    });
}

TEST_F(cp15, what_is_not_modelled_is_said_once)
{
    run([&] {
        EXPECT_EQ(mrc(0, 11, 0, 1), 0U);
        (void)mrc(0, 11, 0, 1);
        EXPECT_TRUE(mcr(0, 11, 0, 1, 1));
        EXPECT_EQ(missing_, (std::vector<std::string>{"MRC p15, 0, c11, c0, 1", "MCR p15, 0, c11, c0, 1"}));
    });
}

TEST_F(cp15, walks_fill_the_lockable_entry_that_the_lockdown_register_names)
{
    run([&] {
        translate();
        EXPECT_TRUE(mcr(0, 10, 0, 0, 2U << 28U | 1));
        EXPECT_EQ(mrc(0, 10, 0, 0), 2U << 28U | 1);
        EXPECT_TRUE(walks(0x3000));
        mcr(0, 10, 0, 0, 0);
        EXPECT_TRUE(walks(0x4000));
        mcr(0, 8, 7, 0, 0); // TLBIALL
        EXPECT_FALSE(walks(0x3000));
        EXPECT_TRUE(walks(0x4000));
        mcr(0, 8, 7, 1, 0x3000 | 6); // TLBIMVA, of another ASID
        EXPECT_FALSE(walks(0x3000));
        mcr(0, 8, 7, 1, 0x3000 | 5);
        EXPECT_TRUE(walks(0x3000));
    });
}

TEST_F(cp15, software_reads_a_locked_entry_and_writes_it_back)
{
    run([&] {
        translate();
        mcr(0, 10, 0, 0, 1U << 28U | 1);
        (void)walks(0x3000);
        mcr(0, 10, 0, 0, 0);
        mcr(5, 15, 4, 2, 1); // select for read
        const std::uint32_t va = *mrc(5, 15, 5, 2);
        const std::uint32_t attributes = *mrc(5, 15, 7, 2);
        const std::uint32_t pa = *mrc(5, 15, 6, 2);
        EXPECT_EQ(va, 0x3000U | 5);
        EXPECT_EQ(attributes, 2U << 7U | 3U << 1U) << "domain 2, C and B";
        EXPECT_EQ(pa, 0x10'3000U | 1U << 6U | 3U << 1U | 1U) << "4 KiB, AP 3, valid";
        mcr(5, 15, 4, 4, 1); // select for write
        mcr(5, 15, 6, 2, 0);
        EXPECT_TRUE(walks(0x3000));
        EXPECT_EQ(mrc(5, 15, 6, 2), 0U);
        mcr(0, 8, 7, 0, 0);
        mcr(5, 15, 4, 4, 3);
        mcr(5, 15, 5, 2, va);
        mcr(5, 15, 7, 2, attributes);
        mcr(5, 15, 6, 2, pa);
        EXPECT_FALSE(walks(0x3000));
        const auto found = mmu_->translate(control_->regime(), 0x3010, access_kind::read);
        EXPECT_EQ(std::get<page_translation>(found).of(0x3010).value, 0x10'3010U);
        EXPECT_EQ(std::get<page_translation>(found).says.memory, short_descriptors::memory_kind::cached);
    });
}

TEST_F(cp15, registers_that_translation_depends_on_empty_the_micro_tlbs)
{
    run([&] {
        translate();
        (void)walks(0x1000);
        const int before = changes_;
        mcr(0, 3, 0, 0, 0x5555'5555);
        EXPECT_FALSE(mmu_->knows(control_->regime(), 0x1000, access_kind::read));
        EXPECT_FALSE(walks(0x1000)) << "the main TLB has it";
        mcr(0, 13, 0, 1, 6);
        EXPECT_TRUE(walks(0x1000)) << "not for this address space";
        EXPECT_EQ(changes_, before + 2);
    });
}

TEST_F(cp15, an_address_is_translated_for_software)
{
    run([&] {
        translate();
        mcr(0, 7, 8, 1, 0x3000);
        EXPECT_EQ(*mrc(0, 7, 4, 0) & 0xFFFF'F000U, 0x10'3000U);
        mcr(0, 7, 8, 0, 0x0070'0000);
        EXPECT_EQ(mrc(0, 7, 4, 0), 5U << 1U | 1) << "section translation fault";
    });
}

TEST_F(cp15, data_cache_maintenance_by_set_and_way_writes_back)
{
    run([&] {
        on().access(phys_addr{0x10'0000}, 4, access_kind::write);
        EXPECT_TRUE(on().holds(phys_addr{0x10'0000}));
        const std::uint32_t set = 0x10'0000 / 32 % 256;
        for (std::uint32_t way = 0; way < 4; ++way) {
            mcr(0, 7, 14, 2, way << 30U | set << 5U);
        }
        EXPECT_FALSE(on().holds(phys_addr{0x10'0000}));
        EXPECT_EQ(on().count_of(core_event::l1d_write_back) + machine_->memory().counts_of_level(0).received,
                  1U);
    });
}

TEST_F(cp15, monitors_count_what_waited_for_translations)
{
    run([&] {
        mcr(0, 9, 12, 0, 1);
        const auto set = [&](std::uint32_t index, std::uint32_t event) {
            mcr(0, 9, 12, 5, index);
            mcr(0, 9, 13, 1, event);
        };
        set(0, 0x83);
        set(1, 0x85);
        set(2, 0x05);
        mcr(0, 9, 12, 1, 0x8000'0007);
        const auto count = [&](std::uint32_t index) {
            mcr(0, 9, 12, 5, index);
            return *mrc(0, 9, 13, 2);
        };
        translate();
        (void)walks(0x1000);
        mcr(0, 13, 0, 1, 5); // empties the micro-TLBs
        (void)walks(0x1000);
        EXPECT_GT(count(0), 20U) << "two reads of tables in DRAM";
        EXPECT_EQ(count(1), 2U) << "a hit in the main TLB";
        EXPECT_EQ(count(2), 2U);
        on().instructions(100);
        const std::uint32_t before = *mrc(0, 9, 13, 0);
        on().instructions(500);
        EXPECT_GE(*mrc(0, 9, 13, 0), before + 400);
        mcr(0, 9, 12, 2, 0x8000'0000);
        const std::uint32_t stopped = *mrc(0, 9, 13, 0);
        on().instructions(500);
        EXPECT_EQ(mrc(0, 9, 13, 0), stopped);
    });
}

TEST_F(cp15, a_counter_that_overflows_says_so)
{
    run([&] {
        mcr(0, 9, 12, 0, 1);
        mcr(0, 9, 12, 1, 0x8000'0000);
        mcr(0, 9, 13, 0, 0xFFFF'FFF0);
        on().instructions(1000);
        EXPECT_EQ(mrc(0, 9, 12, 3), 0x8000'0000U);
        mcr(0, 9, 12, 3, 0x8000'0000);
        EXPECT_EQ(mrc(0, 9, 12, 3), 0U);
    });
}

} // namespace
} // namespace bulkhead::machine::armv7::a_profile::a_profile_test
