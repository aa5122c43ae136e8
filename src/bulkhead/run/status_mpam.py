# SPDX-License-Identifier: Apache-2.0
"""What EL2 publishes of MPAM: errors, monitors, its own costs, and the dump of all components' registers.

`conclude` reads it after a run, `live` while the machine runs. The machine may have failed: any contents of
the frames give a value or a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bulkhead.evidence.mpam_promise import DumpedRegister
from bulkhead.schema.layout import Layout

HYPERVISOR = 0xFFFF  # owner of a monitor
ENABLED = "enabled"

BytesAt = Callable[[int], bytes | None]

# MPAMF_ESR.ERRCODE (IHI 0099, 10.2).
ERRORS = {
    1: "PARTID_SEL_Range",
    2: "Req_PARTID_Range",
    3: "MSMONCFG_ID_RANGE",
    4: "Req_PMG_Range",
    5: "Monitor_Range",
    6: "intPARTID_Range",
    7: "Unexpected_INTERNAL",
    8: "Undefined_RIS_PART_SEL",
    9: "RIS_No_Control",
    10: "Undefined_RIS_MON_SEL",
    11: "RIS_No_Monitor",
}


@dataclass(frozen=True)
class MonitorStatus:
    """The values that a monitor has counted for one PARTID."""

    component: int
    instance: int
    kind: str  # storage: the partition's current bytes; bandwidth: bytes moved since the start
    partid: int
    owner: int  # a domain's index, or HYPERVISOR
    bytes: int
    most_bytes: int  # largest value of all reads; for bandwidth, between two reads
    never_read: bool
    not_ready: bool  # at the last read
    wrapped: bool  # its counter wrapped between two reads, possibly more than once


@dataclass(frozen=True)
class MpamStatus:
    """The page's contents; durations are in ticks of the counter."""

    state: str
    version: int
    start_ticks: int
    writes: int
    reads: int
    read_sum_ticks: int
    read_max_ticks: int
    errors: dict[str, int]  # that occurred, by name
    error_interrupts: int
    monitors: tuple[MonitorStatus, ...]
    without_monitor: int  # partitions without a monitor
    dump: tuple[DumpedRegister, ...] | None  # None: its frames could not be read
    dump_left_out: int


def mpam_frame(pool_frames: Sequence[int], number: int) -> int | None:
    """The physical address of the page; None: number 0, or out of range."""
    return pool_frames[number] if 0 < number < len(pool_frames) else None


def read_mpam(
    layout: Layout, number: int, pool_frames: Sequence[int], bytes_at: BytesAt, *, dump: bool = True
) -> MpamStatus | str:
    """Reads MPAM's page, whose pool frame `number` the system's status states. A string says why there is
    nothing."""
    pa = mpam_frame(pool_frames, number)
    if pa is None:
        return "the hypervisor has written no data about MPAM"
    page = bytes_at(pa)
    if page is None:
        return "the hypervisor's page of MPAM could not be read"
    raw: dict[str, Any] = layout.unpack("status_mpam", page)
    count = min(int(raw["monitor_count"]), layout.constant("max_mpam_monitors"))
    return MpamStatus(
        state=layout.enum_name("mpam_state", int(raw["state"])) or f"state {raw['state']}",
        version=int(raw["version"]),
        start_ticks=int(raw["start_ticks"]),
        writes=int(raw["writes"]),
        reads=int(raw["reads"]),
        read_sum_ticks=int(raw["read_sum_ticks"]),
        read_max_ticks=int(raw["read_max_ticks"]),
        errors={
            ERRORS.get(code, f"code {code}"): int(times) for code, times in enumerate(raw["errors"]) if times
        },
        error_interrupts=int(raw["error_interrupts"]),
        monitors=tuple(_monitor(layout, one) for one in raw["monitors"][:count]),
        without_monitor=int(raw["without_monitor"]),
        dump=_dump(layout, raw, pool_frames, bytes_at) if dump else None,
        dump_left_out=int(raw["dump_left_out"]),
    )


def _monitor(layout: Layout, raw: dict[str, Any]) -> MonitorStatus:
    flags = int(raw["flags"])

    def has(name: str) -> bool:
        return bool(flags & layout.enum_value("mpam_monitor_flag", name))

    return MonitorStatus(
        component=int(raw["component"]),
        instance=int(raw["instance"]),
        kind=layout.enum_name("mpam_monitor_kind", int(raw["kind"])) or f"kind {raw['kind']}",
        partid=int(raw["partid"]),
        owner=int(raw["owner"]),
        bytes=int(raw["bytes"]),
        most_bytes=int(raw["most_bytes"]),
        never_read=has("never_read"),
        not_ready=has("not_ready"),
        wrapped=has("wrapped"),
    )


def _dump(
    layout: Layout, raw: dict[str, Any], pool_frames: Sequence[int], bytes_at: BytesAt
) -> tuple[DumpedRegister, ...] | None:
    """The dumped registers; None: a frame could not be read. The frames have consecutive numbers in the
    pool."""
    page_bytes, size = layout.constant("page_bytes"), layout.size("status_mpam_register")
    count = min(int(raw["dump_count"]), layout.constant("mpam_dump_frames") * (page_bytes // size))
    first = int(raw["dump_frame"])
    content = b""
    for number in range(first, first + -(-count * size // page_bytes)):
        page = bytes_at(pool_frames[number]) if number < len(pool_frames) else None
        if page is None:
            return None
        content += page
    rows = (layout.unpack("status_mpam_register", content, size * row) for row in range(count))
    return tuple(
        DumpedRegister(
            *(int(str(row[name])) for name in ("component", "instance", "partid", "offset", "value"))
        )
        for row in rows
    )
