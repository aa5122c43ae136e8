# SPDX-License-Identifier: Apache-2.0
"""The hypervisor's statistics pages as values, unpacked by the layout that both sides share.

Read after a run by `result`. The pages come from a machine that may have failed: whatever stands in them
must give a value or a reason, never an exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bulkhead.schema.layout import Layout


@dataclass(frozen=True)
class DomainStatus:
    state: str
    end: str
    vttbr: int
    started_ns: int | None
    ended_ns: int | None
    fault_pc: int
    fault_syndrome: int
    fault_address: int
    restarts: int


@dataclass(frozen=True)
class CoreStatus:
    core: int
    domain: int
    vcpu: int
    idle: bool
    exits: dict[str, int]  # those that occurred
    injected: int
    list_register_full: int


@dataclass(frozen=True)
class SystemStatus:
    phase: str
    end_reason: str
    refusal: int
    refusal_name: str | None
    refusal_offset: int
    guest_ns: int | None  # from the start to the end, if both have been
    ttbr0_el2: int
    pool_frames: int
    pool_used: int
    domains: list[DomainStatus] = field(default_factory=list)
    cores: list[CoreStatus] = field(default_factory=list)


def read_status(layout: Layout, pages: Sequence[bytes | None]) -> SystemStatus | str:
    """The system's page and one page per core; a string says why there is nothing to read."""
    if not pages or pages[0] is None:
        return "the statistics pages could not be read"
    raw = _record(layout, "status_system", pages[0])
    if raw["magic"] != layout.constant("status_magic"):
        return "the hypervisor did not get as far as writing its statistics page"
    if raw["version"] != layout.version:
        return f"the statistics page has version {raw['version']}, this tool reads {layout.version}"
    hz, start = int(raw["counter_hz"]), int(raw["started_at"])

    def since_start(counter: int) -> int | None:
        return (counter - start) * 10**9 // hz if hz and counter >= start > 0 else None

    count = min(int(raw["domain_count"]), layout.constant("max_domains"))
    return SystemStatus(
        phase=_name(layout, "phase", raw["phase"]),
        end_reason=_name(layout, "end_reason", raw["end_reason"]),
        refusal=int(raw["refusal"]),
        refusal_name=_refusal(layout, int(raw["refusal"])),
        refusal_offset=int(raw["refusal_offset"]),
        guest_ns=since_start(int(raw["ended_at"])),
        ttbr0_el2=int(raw["ttbr0_el2"]),
        pool_frames=int(raw["pool_frames"]),
        pool_used=int(raw["pool_used"]),
        domains=[
            DomainStatus(
                state=_name(layout, "domain_state", d["state"]),
                end=_name(layout, "domain_end", d["end"]),
                vttbr=int(d["vttbr"]),
                started_ns=since_start(int(d["started_at"])),
                ended_ns=since_start(int(d["ended_at"])),
                fault_pc=int(d["fault_pc"]),
                fault_syndrome=int(d["fault_syndrome"]),
                fault_address=int(d["fault_address"]),
                restarts=int(d["restarts"]),
            )
            for d in raw["domains"][:count]
        ],
        cores=[core for page in pages[1:] if page is not None and (core := _core(layout, page))],
    )


def _core(layout: Layout, page: bytes) -> CoreStatus | None:
    raw = _record(layout, "status_core", page)
    if raw["magic"] != layout.constant("status_magic"):
        return None
    names = {value: name for name, value in layout.enum("exit_reason").items()}
    return CoreStatus(
        core=int(raw["core"]),
        domain=int(raw["domain"]),
        vcpu=int(raw["vcpu"]),
        idle=bool(raw["idle"]),
        exits={names.get(i, f"reason_{i}"): int(n) for i, n in enumerate(raw["exits"]) if n},
        injected=int(raw["injected"]),
        list_register_full=int(raw["list_register_full"]),
    )


def _record(layout: Layout, name: str, page: bytes) -> Mapping[str, Any]:
    return layout.unpack(name, page)


def _name(layout: Layout, enum: str, value: object) -> str:
    return layout.enum_name(enum, int(str(value))) or f"{enum} {value}"


def _refusal(layout: Layout, code: int) -> str | None:
    return layout.enum_name("manifest_error", code) if "manifest_error" in layout.schema.enums else None
