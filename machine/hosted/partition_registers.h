// SPDX-License-Identifier: Apache-2.0
// MPAM's system registers of one core, and the label that they give to its requests at each exception level
// (DDI 0487, chapter D22 and the registers' pages): MPAM2_EL2 at EL2; MPAM1_EL1 at EL1, where guests run,
// whose numbers are virtual if MPAMHCR_EL2 says so and are translated to physical ones by MPAMVPM<n>_EL2.
// There is no EL3: MPAM2_EL2 has the enable bit. MPAM0_EL1 is stored but labels nothing, since nothing runs
// at EL0. Changes take effect at once, not at the next context synchronization.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <arch/sysreg.h>

#include "machine/core.h"
#include "machine/mpam/settings.h"

namespace bulkhead::machine::hosted {

class partition_registers {
public:
    // The core must outlive this object.
    partition_registers(core &labelled, const mpam::system_settings &has) : core_(labelled), has_(has) {}

    // Accesses at EL2; nothing, or false: not one of these registers.
    [[nodiscard]] std::optional<std::uint64_t> read(sysreg_id id) const;
    bool write(sysreg_id id, std::uint64_t value);

    // Accesses by a guest: whether EL2 traps them, and their effect if it does not.
    [[nodiscard]] bool traps_from_guest(sysreg_id id) const;
    [[nodiscard]] std::uint64_t read_by_guest(sysreg_id id) const;
    void write_by_guest(sysreg_id id, std::uint64_t value);

    // The core executes at EL2, or at EL1, from now on.
    void enter_el2() { core_.set_label(data(mpam2_), instructions(mpam2_)); }
    void enter_el1();

    // Fields of ID_AA64PFR0_EL1 and ID_AA64PFR1_EL1.
    static std::uint64_t id_fields(const mpam::system_settings &has, sysreg_id id);

private:
    static constexpr std::uint32_t most_maps = 8;

    [[nodiscard]] std::uint64_t ids() const;
    [[nodiscard]] bool enabled() const;
    [[nodiscard]] mpam_label data(std::uint64_t of) const { return label(of >> 16U, of >> 40U); }
    [[nodiscard]] mpam_label instructions(std::uint64_t of) const { return label(of, of >> 32U); }
    [[nodiscard]] mpam_label label(std::uint64_t partid, std::uint64_t group) const;
    // label at EL1 after translation
    [[nodiscard]] mpam_label mapped(std::uint64_t partid, std::uint64_t group) const;

    core &core_;
    mpam::system_settings has_;
    std::uint64_t mpam2_ = 0;
    std::uint64_t mpam1_ = 0;
    std::uint64_t mpam0_ = 0;
    std::uint64_t hcr_ = 0;
    std::uint64_t valid_ = 0;
    std::array<std::uint64_t, most_maps> maps_{};
};

} // namespace bulkhead::machine::hosted
