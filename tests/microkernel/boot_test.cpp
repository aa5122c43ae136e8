/* SPDX-License-Identifier: Apache-2.0
 *
 * The description of a system is input: each wrong field is refused before anything runs.
 */
#include "tests/microkernel/kernel_world.h"

extern "C" {
#include "microkernel/kernel/arch.h"
}

namespace bulkhead::test::boot_test {
namespace {

struct wrong {
    std::string part; /* of the refusal */
    void (*damage)(boot_system &);
};

class BootTest : public KernelTest {
protected:
    /* The valid description with one memory, damaged; sealed again unless the damage is in the seal. */
    const char *refusal(const std::function<void(boot_system &)> &damage, bool sealed = true)
    {
        boot_system changed = system;

        changed.memory_count = 1;
        changed.memory[0] = {"samples", 0, 4096, 0, 0, CLIENT, MXU_READ | MXU_WRITE, 0, 0, 0, 0, {0, 0}};
        damage(changed);
        if (sealed) {
            seal(changed);
        }
        return kernel_boot(&changed);
    }
};

component_header &header_of(const boot_system &of, uint32_t number)
{
    return *static_cast<component_header *>(arch_memory(of.component[number].code_first));
}

TEST_F(BootTest, X9_a_sound_description_with_memory_is_accepted)
{
    EXPECT_EQ(refusal([](boot_system &) {}), nullptr);
}

TEST_F(BootTest, X9_each_field_that_is_wrong_is_refused)
{
    const wrong table[] = {
        {"no description", [](boot_system &of) { of.magic++; }},
        {"another version", [](boot_system &of) { of.version++; }},
        {"another version", [](boot_system &of) { of.bytes--; }},
        {"at most ten", [](boot_system &of) { of.component_count = MOST_COMPONENTS + 1; }},
        {"at most ten", [](boot_system &of) { of.component_count = 1; }},
        {"at most ten", [](boot_system &of) { of.memory_count = MOST_MEMORY + 1; }},
        {"no clock", [](boot_system &of) { of.clock_hz = 0; }},
        {"no clock", [](boot_system &of) { of.timer_hz = 0; }},
        {"unknown flags", [](boot_system &of) { of.flags = 2; }},
        {"policy or size", [](boot_system &of) { of.hardware.eviction = 3; }},
        {"policy or size", [](boot_system &of) { of.hardware.most_region_bits = 33; }},
        {"no dynamic region", [](boot_system &of) { of.hardware.limit[MXU_REGIONS] = 9; }},
        {"no dynamic region",
         [](boot_system &of) {
             of.hardware.limit[MXU_REGIONS] = 4;
             of.hardware.system_regions = 4;
         }},
        {"locked ways", [](boot_system &of) { of.hardware.limit[MXU_WAY_BYTES] = 1; }},
        {"too long", [](boot_system &of) { std::fill_n(of.component[CLIENT].name, NAME_BYTES, 'x'); }},
        {"too long", [](boot_system &of) { of.component[CLIENT].name[0] = '\n'; }},
        {"too long", [](boot_system &of) { of.component[CLIENT].call_count = MOST_CALLS + 1; }},
        {"unknown component", [](boot_system &of) { of.component[CLIENT].calls[0] = COMPONENTS; }},
        {"unknown flags", [](boot_system &of) { of.component[CLIENT].spec = MXU_SPEC_MASK + 1; }},
        {"more than its period",
         [](boot_system &of) {
             of.component[CLIENT].period_ns = 10;
             of.component[CLIENT].budget_ns = 11;
         }},
        {"more than its period", [](boot_system &of) { of.component[CLIENT].period_ns = 10; }},
        {"has no name", [](boot_system &of) { of.memory[0].name[0] = '\0'; }},
        {"unknown component", [](boot_system &of) { of.memory[0].component = COMPONENTS; }},
        {"unknown component", [](boot_system &of) { of.memory[0].component = MANAGER; }},
        {"no bytes", [](boot_system &of) { of.memory[0].bytes = 0; }},
        {"beyond the address space", [](boot_system &of) { of.memory[0].first = UINT32_MAX - 4094; }},
        {"unknown flags", [](boot_system &of) { of.memory[0].flags = MEMORY_FLAGS + 1; }},
        {"unknown flags", [](boot_system &of) { of.memory[0].mechanism = MXU_BY_COLOR + 1; }},
        {"invalid rights", [](boot_system &of) { of.memory[0].rights = MXU_WRITE; }},
        {"shared memory",
         [](boot_system &of) {
             of.memory[0].shared = 1;
             of.memory[0].flags = MEMORY_FIXED;
         }},
        {"outside of the board's code", [](boot_system &of) { of.component[CLIENT].code_first = 0; }},
        {"outside of the board's code", [](boot_system &of) { of.component[CLIENT].code_first += 2; }},
        {"no component at", [](boot_system &of) { of.component[CLIENT].code_first += 64; }},
        {"overlaps",
         [](boot_system &of) { of.component[OTHER].code_first = of.component[CLIENT].code_first; }},
    };

    for (const wrong &one : table) {
        const char *said = refusal(one.damage);

        ASSERT_NE(said, nullptr) << one.part;
        EXPECT_NE(std::string(said).find(one.part), std::string::npos) << said << " instead of " << one.part;
    }
}

TEST_F(BootTest, X9_a_damaged_description_is_refused)
{
    EXPECT_STREQ(refusal([](boot_system &of) { of.component[CLIENT].priority ^= 1; }, false),
                 "the system's description is damaged: its CRC is wrong");
}

TEST_F(BootTest, X9_headers_of_components_are_checked)
{
    const uint32_t code_bytes = header_of(system, CLIENT).code_bytes;

    header_of(system, CLIENT).code_bytes = BOARD_CODE_BYTES;
    EXPECT_STREQ(refusal([](boot_system &) {}),
                 "code of a component is too large, or overlaps that of another");
    header_of(system, CLIENT).code_bytes = code_bytes;
    header_of(system, CLIENT).entry = FAKE_CODE_FIRST;
    EXPECT_STREQ(refusal([](boot_system &) {}), "entry of a component is not in its code");
    header_of(system, CLIENT).entry = system.component[CLIENT].code_first + 32u;
    header_of(system, CLIENT).stack_bytes = 0;
    EXPECT_STREQ(refusal([](boot_system &) {}), "data or stack of a component are not whole frames");
}

} // namespace
} // namespace bulkhead::test::boot_test
