// SPDX-License-Identifier: Apache-2.0
// Identification values from the Cortex-A53 Technical Reference Manual (DDI 0500), section 4.3.
#include "machine/hosted/registers.h"

#include "machine/hosted/partition_registers.h"

namespace bulkhead::machine::hosted {

registers::registers(std::uint64_t mpidr, bool gic_v3, bool s2fwb, const mpam::system_settings *partitions)
{
    values_[SYSREG_ID_MPIDR_EL1] = mpidr | 1u << 31;
    values_[SYSREG_ID_MIDR_EL1] = 0x410FD034;
    values_[SYSREG_ID_ID_PFR0_EL1] = 0x131;
    values_[SYSREG_ID_ID_PFR1_EL1] = 0x10011011;
    values_[SYSREG_ID_ID_DFR0_EL1] = 0x03010066;
    values_[SYSREG_ID_ID_MMFR0_EL1] = 0x10201105;
    values_[SYSREG_ID_ID_MMFR1_EL1] = 0x40000000;
    values_[SYSREG_ID_ID_MMFR2_EL1] = 0x01260000;
    values_[SYSREG_ID_ID_MMFR3_EL1] = 0x02102211;
    values_[SYSREG_ID_ID_ISAR0_EL1] = 0x02101110;
    values_[SYSREG_ID_ID_ISAR1_EL1] = 0x13112111;
    values_[SYSREG_ID_ID_ISAR2_EL1] = 0x21232042;
    values_[SYSREG_ID_ID_ISAR3_EL1] = 0x01112131;
    values_[SYSREG_ID_ID_ISAR4_EL1] = 0x00011142;
    values_[SYSREG_ID_ID_ISAR5_EL1] = 0x00011121;
    values_[SYSREG_ID_MVFR0_EL1] = 0x10110222;
    values_[SYSREG_ID_MVFR1_EL1] = 0x12111111;
    values_[SYSREG_ID_MVFR2_EL1] = 0x00000043;
    values_[SYSREG_ID_ID_AA64PFR0_EL1] = gic_v3 ? 0x01002222 : 0x00002222;
    if (partitions != nullptr) {
        for (const sysreg_id id : {SYSREG_ID_ID_AA64PFR0_EL1, SYSREG_ID_ID_AA64PFR1_EL1}) {
            values_[id] |= partition_registers::id_fields(*partitions, id);
        }
    }
    values_[SYSREG_ID_ID_AA64DFR0_EL1] = 0x10305106;
    values_[SYSREG_ID_ID_AA64ISAR0_EL1] = 0x00011120;
    values_[SYSREG_ID_ID_AA64MMFR0_EL1] = 0x00001122;
    values_[SYSREG_ID_ID_AA64MMFR2_EL1] = s2fwb ? std::uint64_t{1} << 40 : 0;
}

} // namespace bulkhead::machine::hosted
