// SPDX-License-Identifier: Apache-2.0
// MPAM components for unit tests, from IHI 0099, independent of core/mpam_settings: registers that keep what
// is written for each instance and PARTID, in the implemented bits; monitors whose values a test sets; errors
// of selections out of range. And the cores' registers, as they are after reset.
#pragma once

#include "hosted_machine.h"
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace bulkhead_test {

struct MpamInstance {
    // ID registers by offset; of MPAMF_IDR only its features (bits 24 to 31).
    std::map<uint32_t, uint32_t> ids;
    // Writable bits of each existing control, by offset.
    std::map<uint32_t, uint32_t> controls;
};

struct MpamComponent {
    uint64_t page = 0;
    uint32_t aidr = 0x11;
    uint32_t partid_max = 15;
    uint32_t pmg_max = 3;
    uint32_t intpartid_max = 0; // narrowing; 0: none
    uint32_t error_irq = 0;
    std::vector<MpamInstance> instances;

    // The value of a control for an instance and PARTID (an internal one, with narrowing).
    uint32_t control(uint32_t instance, uint32_t partid, uint32_t offset) const;
    uint32_t internal_of(uint32_t partid) const;
    // Sets the value that a monitor shows from now on, and whether it is ready.
    void set_monitor(uint32_t instance, bool storage, uint32_t number, uint64_t value, bool ready = true);
    // A monitor's configuration: PARTID of its filter; -1: it is off.
    int64_t filter(uint32_t instance, bool storage, uint32_t number) const;
    // An error occurs, as of a request.
    void raise_error(uint32_t code, uint32_t partid);
    // The number of times that its interrupt was raised.
    uint32_t interrupts = 0;
    uint32_t monitor_writes = 0; // of configurations and values
    uint32_t stuck_offset = 0;   // a control that does not take what is written

    uint32_t read(uint32_t offset);
    void write(uint32_t offset, uint32_t value);

private:
    struct Monitor {
        uint64_t value = 0;
        bool ready = true;
        uint32_t filter = 0;
        uint32_t control = 0;
    };
    using MonitorPlace = std::tuple<uint32_t, bool, uint32_t>;

    bool has_ris() const { return aidr > 0x10; }
    uint32_t ris(uint32_t selection) const { return has_ris() ? selection >> 24 & 0xF : 0; }
    uint32_t idr() const;
    Monitor &selected(bool storage)
    {
        return monitors_[{ris(monitor_select_), storage, monitor_select_ & 0xFFFF}];
    }
    void report(uint32_t code);
    void update_line();

    uint32_t part_select_ = 0;
    uint32_t monitor_select_ = 0;
    uint32_t ecr_ = 0;
    uint32_t esr_ = 0;
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> values_; // instance, PARTID, offset
    std::map<uint32_t, uint32_t> internal_;
    std::map<MonitorPlace, Monitor> monitors_;
};

// Those of the sample manifest (give_mpam), with the changes that a test makes to them; they are on the board
// from plug_in() on.
extern MpamComponent first_component;
extern MpamComponent second_component;
void reset_components();
void plug_in();

// Registers of the cores: MPAM 1.1, PARTIDs 0 to 15, groups 0 to 3, eight virtual PARTIDs.
constexpr uint64_t mpam_ids = uint64_t{3} << 32 | 1u << 18 | 1u << 17 | 15;
void give_cores_mpam(uint64_t ids = mpam_ids);

// A board with these components and cores, and the sample manifest with its MPAM tables, changed by a test.
std::unique_ptr<HostedMachine> boot_with_mpam(const std::function<void(SampleManifest &)> &change);

} // namespace bulkhead_test
