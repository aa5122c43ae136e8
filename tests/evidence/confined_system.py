# SPDX-License-Identifier: Apache-2.0
"""A system with an SMMU, for tests of what the table witness says of it. The tables of domains and the ids of
streams are the same for each kind of SMMU."""

from __future__ import annotations

from dataclasses import dataclass

from bulkhead.evidence.tables import TableWitness, check_tables

from .test_table_witness import System

CONTROL, CONTROL_TOO, LINUX, NOBODY = 8, 0x100, 9, 10  # ids of streams
OWNERS = {CONTROL: "control", CONTROL_TOO: "control", LINUX: "linux"}
VMIDS = {"control": 1, "linux": 2}
VTCR = (25 << 0) | (1 << 6) | (0b11_01_01 << 8) | (2 << 16) | (1 << 31)  # T0SZ, SL0, walks, PS; RES1


@dataclass
class ConfinedSystem:
    """A system whose SMMU is set up as it must be; a test then breaks one thing."""

    system: System
    registers: dict[int, int]  # of the SMMU: words of 32 bits by offset

    def vttbr(self, domain: str) -> int:
        return VMIDS[domain] << 48 | self.system.roots[domain] | 1

    def check(self, registers: bool = True) -> TableWitness:
        return check_tables(
            self.system.promise,
            self.system.image.read_frame,
            {name: self.vttbr(name) for name in VMIDS},
            self.system.el2_root | 1,
            dict.fromkeys(VMIDS, VTCR),
            self.registers if registers else None,
        )
