// SPDX-License-Identifier: Apache-2.0
// What tests of both SMMU drivers share: an EL2 with a model of the SMMU, and what EL2 says and counts.
#pragma once

#include "hosted_machine.h"
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

extern "C" {
#include "base/image.h"
#include "console/console.h"
#include "iommu/smmu.h"
#include "vm/system.h"
}

namespace bulkhead_test {

class SmmuFixture : public testing::Test {
protected:
    static constexpr uint32_t console_core = 1;

    // Boots a machine with the SMMU that `plug_in` adds, and a manifest that `change` has made.
    void boot_with(const std::function<void(SampleManifest &)> &change, const std::function<void()> &plug_in)
    {
        machine = std::make_unique<HostedMachine>(change, plug_in);
        fake_switch_core(console_core);
    }
    std::string said()
    {
        console_write_start();
        return machine->uart_output();
    }
    static const status_smmu &status()
    {
        return *reinterpret_cast<const status_smmu *>(image_start +
                                                      system_status()->smmu_frame * BH_PAGE_BYTES);
    }
    static size_t count(const std::string &text, const std::string &part)
    {
        size_t found = 0;
        for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
            found++;
        }
        return found;
    }
    // The console core takes the SMMU's interrupt, and its alarm comes.
    void look()
    {
        machine->take_while_idle();
        smmu_alarm();
    }

    std::unique_ptr<HostedMachine> machine;
};

} // namespace bulkhead_test
