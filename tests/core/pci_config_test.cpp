// SPDX-License-Identifier: Apache-2.0
// What a guest sees of a PCI function's configuration space, and that no write of it changes more of the
// hardware than it may (D3); its message interrupts (D4).
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

extern "C" {
#include "core/pci_config.h"
}

namespace pci_config_test {
namespace {

constexpr uint32_t express = 0x80, msix = 0xA0;
constexpr uint32_t virtio[] = {0x60, 0x40, 0xB0, 0xF0};
constexpr uint32_t messages = 9; // fewer than the hardware has
constexpr uint64_t narrow_pa = 0x10000000, wide_pa = 0x9'10200000;
constexpr uint32_t all = 0xFFFFFFFF;

// BAR 0 has 32 bits, BARs 2 and 3 are one of 64 bits, prefetchable; the others have no memory.
manifest_function function()
{
    manifest_function result{};
    result.requester = 3 << 3;
    result.guest_slot = 3;
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
    // A store of some bytes of the capability's first word. Returns whether the hardware must be written.
    bool write_msix(uint32_t byte, uint32_t bytes, uint32_t value)
    {
        return pci_config_write(&config, msix, (all >> (32 - 8 * bytes)) << 8 * byte, value << 8 * byte) ==
               PCI_CONFIG_MSIX;
    }
    // The hardware has 65 message interrupts, and another capability after them.
    void give_messages()
    {
        own.messages = messages;
        config.msix = msix;
        config.msix_words[0] = 0xC0404011;
        config.msix_words[1] = 0x00002000;
        config.msix_words[2] = 0x00003004;
    }
    // Places of the structures of a virtio device: its type is the index and one.
    void give_virtio()
    {
        for (uint32_t i = 0; i < PCI_VIRTIO_STRUCTURES; i++) {
            config.virtio[i] = {virtio[i], {pci_virtio_header(i), 2, 0x1000 * i, 0x1000, 4}};
        }
    }
    // The offsets of capabilities that the guest finds, in the order of the list.
    std::vector<uint32_t> list() const
    {
        std::vector<uint32_t> found;
        for (uint32_t at = read(PCI_CAPABILITIES); at != 0 && found.size() < 64; at = read(at) >> 8 & 0xFF) {
            found.push_back(at);
        }
        return found;
    }
    manifest_function own = function();
    pci_config config{.function = &own,
                      .command = 0,
                      .sized = 0,
                      .express = express,
                      .msix = 0,
                      .msix_control = 0,
                      .class_code = 0x01080202,
                      .subsystem = 0x11001AF4,
                      .express_words = {0x00024010, all, all},
                      .msix_words = {},
                      .virtio = {}};
};

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

TEST_F(PciConfig, D4_ShowsMessageInterruptsBehindPciExpress)
{
    EXPECT_EQ(read(msix), 0u) << "the manifest gives the guest none";
    give_messages();
    EXPECT_EQ(read(PCI_COMMAND), PCI_STATUS_LIST);
    EXPECT_EQ(read(PCI_CAPABILITIES), express);
    EXPECT_EQ(read(express), 0x00020010u | msix << 8) << "the next one is MSI-X";
    EXPECT_EQ(read(msix), 0x00080011u) << "the list ends there; as many as the manifest says; off";
    EXPECT_EQ(read(msix + 4), 0x00002000u) << "the place of the table";
    EXPECT_EQ(read(msix + 8), 0x00003004u) << "the place of the pending bits";
    EXPECT_EQ(read(msix + 12), 0u);
}

TEST_F(PciConfig, D4_ShowsMessageInterruptsWithoutPciExpress)
{
    give_messages();
    config.express = 0;
    EXPECT_EQ(read(PCI_COMMAND), PCI_STATUS_LIST);
    EXPECT_EQ(read(PCI_CAPABILITIES), msix);
    EXPECT_EQ(read(msix), 0x00080011u);
    EXPECT_EQ(read(express), 0u);
}

TEST_F(PciConfig, D4_TheSizeOfTheTableIsTheManifests)
{
    give_messages();
    for (const uint32_t count : {1u, 2u, 31u, 32u}) {
        own.messages = count;
        EXPECT_EQ(PCI_MSIX_SIZE(read(msix)), count);
    }
}

TEST_F(PciConfig, D4_AGuestEnablesAndMasksMessageInterruptsAndChangesNothingElse)
{
    give_messages();
    EXPECT_TRUE(write_msix(2, 2, 0x8000)) << "a halfword, as Linux does";
    EXPECT_EQ(read(msix), 0x80080011u);
    EXPECT_TRUE(write_msix(2, 2, 0xFFFF));
    EXPECT_EQ(read(msix), 0xC0080011u) << "not the size";
    EXPECT_TRUE(write_msix(3, 1, 0x80)) << "a byte";
    EXPECT_EQ(read(msix), 0x80080011u);
    EXPECT_TRUE(write_msix(3, 1, 0x80)) << "again: the guest may have reset the function";
    EXPECT_FALSE(write_msix(2, 1, 0xFF)) << "the lower byte of the size";
    EXPECT_FALSE(write_msix(0, 2, 0xFFFF)) << "the capability's id and the next one's place";
    EXPECT_EQ(read(msix), 0x80080011u);
    EXPECT_TRUE(write_msix(0, 4, 0));
    EXPECT_EQ(config.msix_control, 0u);
    EXPECT_TRUE(write_msix(0, 4, all));
    EXPECT_EQ(config.msix_control, PCI_MSIX_ENABLE | PCI_MSIX_MASK);
    for (const uint32_t offset : {msix + 4, msix + 8, msix + 12, express}) {
        const uint32_t before = read(offset);
        EXPECT_EQ(pci_config_write(&config, offset, all, all), PCI_CONFIG_NOTHING);
        EXPECT_EQ(read(offset), before);
    }
    EXPECT_EQ(pci_config_command(&config), PCI_COMMAND_MEMORY);
    pci_config_reset(&config);
    EXPECT_EQ(read(msix), 0x00080011u) << "off after a reset";
}

TEST_F(PciConfig, D4_AFunctionWithoutMessageInterruptsHasNoneToEnable)
{
    EXPECT_FALSE(write_msix(0, 4, all));
    EXPECT_EQ(pci_config_write(&config, 0, all, all), PCI_CONFIG_NOTHING) << "where `msix` is 0";
    EXPECT_EQ(config.msix_control, 0u);
}

TEST_F(PciConfig, D3_ShowsWhereTheStructuresOfAVirtioDeviceAre)
{
    give_virtio();
    EXPECT_EQ(list(), (std::vector<uint32_t>{express, 0x60, 0x40, 0xB0, 0xF0}));
    give_messages();
    EXPECT_EQ(list(), (std::vector<uint32_t>{express, msix, 0x60, 0x40, 0xB0, 0xF0}));
    EXPECT_EQ(read(0x60), 0x01104009u) << "type 1, 16 bytes";
    EXPECT_EQ(read(0x40), 0x0214B009u) << "type 2 has a multiplier";
    EXPECT_EQ(read(0x44), 2u);
    EXPECT_EQ(read(0x48), 0x1000u);
    EXPECT_EQ(read(0x4C), 0x1000u);
    EXPECT_EQ(read(0x50), 4u);
    EXPECT_EQ(read(0x54), 0u);
    EXPECT_EQ(read(0xF0), 0x04100009u) << "the list ends there";
    EXPECT_EQ(read(0xFC), 0x1000u);
    EXPECT_EQ(read(0x70), 0u) << "type 1 has no fifth word";
    config.express = 0;
    config.msix = 0;
    config.virtio[0].offset = 0;
    EXPECT_EQ(list(), (std::vector<uint32_t>{0x40, 0xB0, 0xF0}));
    EXPECT_EQ(read(PCI_COMMAND), PCI_STATUS_LIST);
}

TEST_F(PciConfig, D3_NoWriteChangesWhereTheStructuresOfAVirtioDeviceAre)
{
    give_virtio();
    for (uint32_t i = 0; i < PCI_VIRTIO_STRUCTURES; i++) {
        for (uint32_t offset = virtio[i]; offset < virtio[i] + 4 * pci_virtio_words(i); offset += 4) {
            const uint32_t before = read(offset);
            EXPECT_EQ(pci_config_write(&config, offset, all, ~before), PCI_CONFIG_NOTHING);
            EXPECT_EQ(read(offset), before);
        }
    }
}

// Whatever a guest writes: the command register has only allowed bits, and only a write to it says that the
// hardware has to be written; the same for the enable bit and the mask of message interrupts.
TEST_F(PciConfig, D3_D4_NoWriteReachesMoreOfTheHardware)
{
    constexpr uint32_t allowed = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_OFF;
    std::mt19937 engine(1);
    const auto random = [&] { return static_cast<uint32_t>(engine()); };
    give_messages();
    for (int i = 0; i < 200000; i++) {
        const uint32_t places[] = {0x40, PCI_CONFIG_BYTES, msix + 16};
        const uint32_t offset = random() % places[i % std::size(places)] & ~3u;
        const uint32_t bytes = 1u << random() % 3;
        const uint32_t mask = (all >> (32 - 8 * bytes)) << 8 * (random() % 4 & ~(bytes - 1));
        const uint32_t value = random() % 4 == 0 ? all : random();
        const uint32_t command = pci_config_command(&config), control = config.msix_control;
        const pci_config_effect effect = pci_config_write(&config, offset, mask, value);
        ASSERT_EQ(effect == PCI_CONFIG_COMMAND, offset == PCI_COMMAND && (mask & 0xFFFF) != 0);
        ASSERT_EQ(effect == PCI_CONFIG_MSIX,
                  offset == msix && (mask & (PCI_MSIX_ENABLE | PCI_MSIX_MASK)) != 0);
        ASSERT_EQ(pci_config_command(&config) & ~allowed, 0u);
        ASSERT_EQ(config.msix_control & ~(PCI_MSIX_ENABLE | PCI_MSIX_MASK), 0u);
        if (effect != PCI_CONFIG_COMMAND) {
            ASSERT_EQ(pci_config_command(&config), command);
        }
        if (effect != PCI_CONFIG_MSIX) {
            ASSERT_EQ(config.msix_control, control);
        }
        ASSERT_EQ(read(msix) & ~(PCI_MSIX_ENABLE | PCI_MSIX_MASK), 0x00080011u);
        const uint32_t bar = read(0x10);
        ASSERT_TRUE(bar == narrow_pa || bar == 0xFFFFF000u);
    }
}

} // namespace
} // namespace pci_config_test
