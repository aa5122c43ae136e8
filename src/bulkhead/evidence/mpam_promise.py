# SPDX-License-Identifier: Apache-2.0
"""Input and result of the witness `mpam`: the promise, a dump of registers, findings.

`bulkhead.run` makes the promise from a plan and the dump from a run's memory; mpam.py compares them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bulkhead.config.mpam import Mpam
from bulkhead.planning.mpam import MpamPlan
from bulkhead.results.witness import RegisterFindingResult, RegisterWitnessResult

LISTED = 16  # findings that are listed; further ones are only counted
NOBODY = "nobody"

Json = dict[str, object]


@dataclass(frozen=True)
class MpamPromise:
    """Components of the platform file, and the settings that they must hold for each partition."""

    mpam: Mpam
    plan: MpamPlan

    def owner(self, partid: int) -> str | None:
        for one in self.plan.partitions:
            if one.partid <= partid < one.partid + one.count:
                return one.owner
        return None


@dataclass(frozen=True)
class DumpedRegister:
    """One register of a component, read back with this instance and PARTID selected."""

    component: int
    instance: int
    partid: int
    offset: int
    value: int


@dataclass(frozen=True)
class RegisterFinding:
    """A register whose value differs from the plan."""

    component: str
    instance: int
    partid: int
    owner: str
    register: str
    expected: str
    found: str

    @property
    def text(self) -> str:
        whose = "nobody's" if self.owner == NOBODY else self.owner
        return (
            f"{self.component}, instance {self.instance}, PARTID {self.partid} ({whose}): {self.register} "
            f"gives {self.found}, planned is {self.expected}"
        )

    def as_json(self) -> RegisterFindingResult:
        return {
            "component": self.component,
            "instance": self.instance,
            "partid": self.partid,
            "owner": self.owner,
            "register": self.register,
            "expected": self.expected,
            "found": self.found,
            "text": self.text,
        }


@dataclass
class MpamWitness:
    """Numbers of checks, and the findings."""

    registers_checked: int = 0
    partids_checked: int = 0  # counted for each instance
    left_out: int = 0  # registers of PARTIDs without an owner that did not fit into the dump
    findings_total: int = 0
    findings: list[RegisterFinding] = field(default_factory=list)

    def add(self, finding: RegisterFinding) -> None:
        self.findings_total += 1
        if len(self.findings) < LISTED:
            self.findings.append(finding)

    @property
    def ok(self) -> bool:
        """Whether there are no findings and registers were checked: an empty dump proves nothing."""
        return self.findings_total == 0 and self.registers_checked > 0

    def as_json(self) -> RegisterWitnessResult:
        return {
            "verdict": "held" if self.ok else "broken",
            "registers_checked": self.registers_checked,
            "partids_checked": self.partids_checked,
            "left_out": self.left_out,
            "findings_total": self.findings_total,
            "findings": [one.as_json() for one in self.findings],
        }
