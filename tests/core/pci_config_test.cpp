// SPDX-License-Identifier: Apache-2.0
// What a guest sees of a PCI function's configuration space, and that no write of it changes more of the
// hardware than it may (D3).
#include <cstring>
#include <gtest/gtest.h>
#include <random>

extern "C" {
#include "core/pci_config.h"
}

namespace {

constexpr uint32_t express = 0x80;
constexpr uint64_t narrow_pa = 0x10000000, wide_pa = 0x9'10200000;
constexpr uint32_t all = 0xFFFFFFFF;

// BAR 0 has 32 bits, BARs 2 and 3 are one of 64 bits, prefetchable; the others have no memory.
manifest_function function()
{
    manifest_function result{};
    result.slot = 3;
    result.id = 0x00101B36;
    result.pin = 2;
    result.bar_pa[0] = narrow_pa;
    result.bar_bytes[0] = 0x1000;
    result.bar_kinds = 0xC00;
    result.bar_pa[2] = wide_pa;
    result.bar_bytes[2] = 0x200000;
    return result;
}

class PciConfig : public testing::Test {
protected:
    uint32_t read(uint32_t offset) const { return pci_config_read(&config, offset); }
    bool write(uint32_t offset, uint32_t value, uint32_t mask = all)
    {
        return pci_config_write(&config, offset, mask, value) == PCI_CONFIG_COMMAND;
    }
    const manifest_function own = function();
    pci_config config{.function = &own,
                      .command = 0,
                      .sized = 0,
                      .express = express,
                      .class_code = 0x01080202,
                      .subsystem = 0x11001AF4,
                      .express_words = {0x00024010, all, all}};
};

} // namespace

TEST_F(PciConfig, D3_ShowsWhoTheFunctionIs)
{
    EXPECT_EQ(read(PCI_ID), 0x00101B36u);
    EXPECT_EQ(read(PCI_CLASS), 0x01080202u);
    EXPECT_EQ(read(PCI_SUBSYSTEM), 0x11001AF4u);
    EXPECT_EQ(read(PCI_INTERRUPT), 0x00000200u) << "the pin alone";
    EXPECT_EQ(read(PCI_HEADER), 0u);
    EXPECT_EQ(read(0x30), 0u) << "no ROM";
}

TEST_F(PciConfig, D3_ShowsPciExpressWithoutResetAndNoOtherCapability)
{
    EXPECT_EQ(read(PCI_COMMAND), PCI_STATUS_LIST);
    EXPECT_EQ(read(PCI_CAPABILITIES), express);
    EXPECT_EQ(read(express), 0x00020010u) << "the list ends there";
    EXPECT_EQ(read(express + PCI_EXPRESS_DEVICE), all & ~PCI_EXPRESS_FLR);
    EXPECT_EQ(read(express + PCI_EXPRESS_CONTROL), 0x0000FFFFu) << "not the status";
    EXPECT_EQ(read(express + 0x0C), 0u);
    EXPECT_EQ(read(0x40), 0u);
    EXPECT_EQ(read(0x100), 0u) << "extended configuration space";
    config.express = 0;
    EXPECT_EQ(read(PCI_COMMAND), 0u);
    EXPECT_EQ(read(PCI_CAPABILITIES), 0u);
    EXPECT_EQ(read(express), 0u);
}

TEST_F(PciConfig, D3_BarsAnswerForTheirSizeAndDoNotMove)
{
    EXPECT_EQ(read(0x10), narrow_pa);
    write(0x10, all);
    EXPECT_EQ(read(0x10), 0xFFFFF000u);
    write(0x10, 0x20000000);
    EXPECT_EQ(read(0x10), narrow_pa);
    EXPECT_EQ(read(0x18), 0x1020000Cu);
    EXPECT_EQ(read(0x1C), 0x9u);
    write(0x18, 0xFFFFFFF0);
    EXPECT_EQ(read(0x18), 0xFFE0000Cu);
    EXPECT_EQ(read(0x1C), 0x9u);
    write(0x1C, all);
    EXPECT_EQ(read(0x1C), all);
    write(0x18, all, 0xFFFF);
    EXPECT_EQ(read(0x18), 0x1020000Cu) << "a part of the register";
    for (uint32_t offset : {0x14u, 0x20u, 0x24u}) {
        write(offset, all);
        EXPECT_EQ(read(offset), 0u) << "there is no memory";
    }
    pci_config_reset(&config);
    EXPECT_EQ(read(0x1C), 0x9u);
}

TEST_F(PciConfig, D3_TheCommandRegisterReachesTheHardwareWhileTheDomainRuns)
{
    EXPECT_EQ(pci_config_command(&config), PCI_COMMAND_MEMORY);
    EXPECT_TRUE(write(PCI_COMMAND, PCI_COMMAND_MASTER, 0xFF));
    EXPECT_EQ(pci_config_command(&config), PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY);
    EXPECT_TRUE(write(PCI_COMMAND, PCI_COMMAND_MASTER, 0xFF)) << "the guest may have reset the function";
    EXPECT_FALSE(write(PCI_COMMAND, all, 0xFFFF0000)) << "the status register";
    EXPECT_TRUE(write(PCI_COMMAND, PCI_COMMAND_INTX_OFF, 0xFF00));
    EXPECT_EQ(read(PCI_COMMAND), PCI_STATUS_LIST | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_OFF);
    pci_config_reset(&config);
    EXPECT_EQ(pci_config_command(&config), PCI_COMMAND_MEMORY);
}

TEST(PciConfigPin, D3_AFunctionWithoutAPinRaisesNoInterrupt)
{
    manifest_function silent = function();
    silent.pin = 0;
    pci_config config{};
    config.function = &silent;
    EXPECT_EQ(pci_config_read(&config, PCI_INTERRUPT), 0u);
    EXPECT_EQ(pci_config_command(&config), PCI_COMMAND_MEMORY | PCI_COMMAND_INTX_OFF);
    pci_config_write(&config, PCI_COMMAND, all, PCI_COMMAND_MASTER);
    EXPECT_EQ(pci_config_command(&config), PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_OFF);
    EXPECT_EQ(pci_config_read(&config, PCI_COMMAND), PCI_COMMAND_MASTER) << "as the guest has written it";
}

// Whatever a guest writes: the command register has only allowed bits, and only a write to it says that the
// hardware has to be written.
TEST_F(PciConfig, D3_NoWriteReachesMoreOfTheHardware)
{
    constexpr uint32_t allowed = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_OFF;
    std::mt19937 engine(1);
    const auto random = [&] { return static_cast<uint32_t>(engine()); };
    for (int i = 0; i < 200000; i++) {
        const uint32_t offset = random() % (i % 2 == 0 ? 0x40 : PCI_CONFIG_BYTES) & ~3u;
        const uint32_t bytes = 1u << random() % 3;
        const uint32_t mask = (all >> (32 - 8 * bytes)) << 8 * (random() % 4 & ~(bytes - 1));
        const uint32_t value = random() % 4 == 0 ? all : random();
        const uint32_t before = pci_config_command(&config);
        const bool reaches = write(offset, value, mask);
        if (reaches) {
            ASSERT_EQ(offset, PCI_COMMAND);
        }
        ASSERT_EQ(pci_config_command(&config) & ~allowed, 0u);
        if (offset != PCI_COMMAND) {
            ASSERT_EQ(pci_config_command(&config), before);
        }
        const uint32_t bar = read(0x10);
        ASSERT_TRUE(bar == narrow_pa || bar == 0xFFFFF000u);
    }
}
