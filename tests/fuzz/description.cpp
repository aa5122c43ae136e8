// SPDX-License-Identifier: Apache-2.0
// Target `description`: the description that the microkernel starts from is input. Bytes of a valid
// description and of the headers of its components are changed, and the kernel starts it (on the architecture
// without hardware, where an access outside of memory aborts). Every accepted description has valid code,
// stacks, names and calls.
#include "input.h"
#include "require.h"

extern "C" {
#include "core/crc32.h"
#include "microkernel/arch/fake/fake.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/boot.h"
}

#include <cstddef>
#include <cstring>

namespace {

using bulkhead_fuzz::Input;
using bulkhead_fuzz::require;

constexpr std::uint32_t components = 4;
constexpr std::uint32_t code_bytes = 0x1000;
constexpr std::uint32_t frame = 1u << BOARD_FRAME_BITS;

component_header &header(std::uint32_t number)
{
    return *static_cast<component_header *>(arch_memory(FAKE_CODE_FIRST + number * code_bytes));
}

void describe(boot_system &system)
{
    system.magic = BOOT_MAGIC;
    system.version = BOOT_VERSION;
    system.bytes = sizeof system;
    system.component_count = components;
    system.memory_count = 2;
    system.clock_hz = system.timer_hz = 1000000;
    system.hardware.most_region_bits = 32;
    for (std::uint32_t i = 0; i < components; i++) {
        const std::uint32_t stack = BOARD_FRAMES_FIRST + 2 * i * frame;

        system.component[i].name[0] = static_cast<char>('a' + i);
        system.component[i].code_first = FAKE_CODE_FIRST + i * code_bytes;
        system.component[i].serves = i == MANAGER;
        header(i) = {HEADER_MAGIC, FAKE_CODE_FIRST + i * code_bytes + 32,
                     code_bytes,   stack + frame,
                     frame,        stack,
                     frame,        0};
    }
    for (std::uint32_t i = 0; i < system.memory_count; i++) {
        system.memory[i] = {"memory", 0, 4096, 0, 0, 2, MXU_READ | MXU_WRITE, 0, 0, 0, 0, {0, 0}};
    }
}

void change(Input &input, boot_system &system)
{
    while (!input.empty()) {
        const std::uint32_t where = input.u16();
        const auto value = input.u8();

        if (where < sizeof system) {
            reinterpret_cast<std::uint8_t *>(&system)[where] = value;
        } else if (where < sizeof system + components * sizeof(component_header)) {
            const std::uint32_t at = where - static_cast<std::uint32_t>(sizeof system);

            reinterpret_cast<std::uint8_t *>(
                &header(at / sizeof(component_header)))[at % sizeof(component_header)] = value;
        }
    }
}

void check_accepted(const boot_system &system)
{
    require(kernel.component_count <= MOST_COMPONENTS, "more components than there can be");
    for (std::uint32_t i = 0; i < kernel.component_count; i++) {
        const component &one = kernel.component[i];
        const thread &thread = kernel.thread[i];
        const boot_component &given = system.component[i];

        require(std::memchr(one.name, 0, sizeof one.name) != nullptr, "a name without end");
        require(one.code_first >= BOARD_CODE_FIRST && one.code_last - BOARD_CODE_FIRST < BOARD_CODE_BYTES &&
                    one.code_last > one.code_first,
                "code where there is none");
        require(thread.entry >= one.code_first && thread.entry <= one.code_last, "entry outside of the code");
        require(thread.stack_first >= BOARD_FRAMES_FIRST && thread.stack_last > thread.stack_first,
                "a stack outside of the frames");
        for (std::uint32_t n = 0; n < given.call_count; n++) {
            require(given.calls[n] < kernel.component_count, "a call of nobody");
        }
        for (std::uint32_t n = 0; n < i; n++) {
            require(kernel.component[n].code_last < one.code_first ||
                        kernel.component[n].code_first > one.code_last,
                    "code of two components at one place");
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    constexpr size_t checked = offsetof(boot_system, component_count);
    Input input(data, bytes);
    boot_system system{};

    fake_reset();
    describe(system);
    const bool is_sealed = input.u8() % 8 != 0;
    change(input, system);
    if (is_sealed) {
        system.crc = crc32_update(0, reinterpret_cast<const std::uint8_t *>(&system) + checked,
                                  sizeof system - checked);
    }
    if (kernel_boot(&system) == nullptr) {
        check_accepted(system);
    }
    return 0;
}
