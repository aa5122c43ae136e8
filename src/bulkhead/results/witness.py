# SPDX-License-Identifier: Apache-2.0
"""What independent looks at a run say: the key `witnesses` of its result."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED


@with_config(CLOSED)
class MissingWitness(TypedDict):
    """A witness that could not look."""

    verdict: Literal["missing"]
    """There is none."""
    reason: str
    """Why."""


@with_config(CLOSED)
class CacheWitnessResult(TypedDict):
    """Who made whose lines go from the last-level cache: an observer of all accesses, or the machine."""

    verdict: Literal["held", "broken", "nothing promised"]
    """`broken`: a domain lost lines to another, though their colors differ."""
    evicted_by_others: int
    """Lines of domains that others evicted."""
    owners: list[str]
    """Owners of lines, in the order of the matrix."""
    evictions: list[list[int]]
    """Lines of each owner (row) that each owner (column) evicted."""
    caches: dict[str, Any]
    """Geometry of the observed caches."""
    unattributed: dict[str, int]
    """Accesses whose owner or address is not known."""
    judged_by: NotRequired[str]
    """Witness that judges in place of this one: `portions`."""
    unseen: NotRequired[list[str]]
    """Of the observer: accesses to memory that the emulator does not report, so the counts are without them.
    Absent: no device of a domain masters memory."""


@with_config(CLOSED)
class PortionFindingResult(TypedDict):
    """Lines of others in a domain's portions."""

    domain: str
    """The domain."""
    owners: list[str]
    """Owner of the lines."""
    portions: str
    """The portions."""
    lines: int
    """Number of lines."""
    text: str
    """The same in words."""


@with_config(CLOSED)
class PortionWitnessResult(TypedDict):
    """Whether each line of the last-level cache lies in its owner's MPAM portions."""

    verdict: Literal["held", "broken", "nothing promised"]
    """Whether it does."""
    lines: int
    """Lines that were checked."""
    foreign_lines: int
    """Lines of others."""
    findings_total: int
    """Number of findings."""
    findings: list[PortionFindingResult]
    """The findings."""


@with_config(CLOSED)
class TableFindingResult(TypedDict):
    """A mapping that should not be."""

    kind: str
    """Kind of the finding."""
    where: str
    """Owner of the tables, and the address in the domain."""
    address: str
    """Physical address."""
    text: str
    """The same in words."""


@with_config(CLOSED)
class TableWitnessResult(TypedDict):
    """Stage-2 tables, EL2's tables, the SMMU's stream table and the ITS's tables, read from memory at the end
    of a run and compared with the plan."""

    verdict: Literal["held", "broken"]
    """Whether each mapping is as planned."""
    colored: bool
    """Whether colors of frames were checked."""
    frames_checked: int
    """Frames that the tables map."""
    frames_planned: int
    """Frames in the plan."""
    device_frames_checked: int
    """Frames of devices that the tables map."""
    tables_checked: int
    """Translation tables that were read."""
    tables_placed: int
    """Tables whose place was checked against a specification."""
    streams_checked: int
    """Stream ids whose entry at the SMMU was checked; 0 without a driven one."""
    messages_checked: int
    """Message interrupts of domains' PCI functions that were looked up in the ITS's tables."""
    findings_total: int
    """Number of findings."""
    findings: list[TableFindingResult]
    """The first ones."""
    frames_by_color: dict[str, dict[str, int]]
    """Frames of each domain by color."""
    not_bound: list[str]
    """Accesses that bypass the tables, so the tables do not limit them."""


@with_config(CLOSED)
class RegisterFindingResult(TypedDict):
    """A register of an MPAM component that is not as planned."""

    component: str
    """Name of the component."""
    instance: int | None
    """Resource instance."""
    partid: int | None
    """PARTID that was selected."""
    owner: str | None
    """Owner of the PARTID."""
    register: str
    """Name of the register."""
    expected: str
    """Planned value."""
    found: str
    """Value that was read."""
    text: str
    """The same in words."""


@with_config(CLOSED)
class RegisterWitnessResult(TypedDict):
    """Registers of MPAM components, as the hypervisor read them back, compared with the plan."""

    verdict: Literal["held", "broken"]
    """Whether each register is as planned."""
    registers_checked: int
    """Registers that were compared."""
    partids_checked: int
    """PARTIDs whose settings were compared."""
    left_out: int
    """Registers for which the dump had no space."""
    findings_total: int
    """Number of findings."""
    findings: list[RegisterFindingResult]
    """The first ones."""


@with_config(CLOSED)
class WitnessResults(TypedDict):
    """The witnesses of a run."""

    observer: NotRequired[CacheWitnessResult | MissingWitness]
    """The emulator's plugin that passes each access through a model of the cache (`--observe`)."""
    machine: NotRequired[CacheWitnessResult]
    """Caches of the simulated machine."""
    portions: NotRequired[PortionWitnessResult]
    """MPAM portions of the last-level cache."""
    mpam: NotRequired[RegisterWitnessResult | MissingWitness]
    """Registers of MPAM components."""
    tables: NotRequired[TableWitnessResult | MissingWitness]
    """Translation tables."""
