# SPDX-License-Identifier: Apache-2.0
"""M3: a run's results about MPAM from the hypervisor's published data: storage and bandwidth of each domain,
flags of monitors, errors, durations, and a witness that fails the run or states why it cannot check."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bulkhead.commands import top_view
from bulkhead.config.mpam import Mpam
from bulkhead.evidence.mpam_promise import MpamPromise
from bulkhead.planning.mpam import ComponentSettings, MpamPlan, Partition, Settings
from bulkhead.report.html import render
from bulkhead.report.load import load_run
from bulkhead.report.terminal import show_run
from bulkhead.run.live import LiveWindow, live_table
from bulkhead.run.status import SystemStatus, read_status
from bulkhead.run.status_mpam import MonitorStatus, MpamStatus, read_mpam

from .made_up import HZ, LAYOUT, MadeUp, MadeUpMpam

pytestmark = pytest.mark.req("M3")

CPBM = 0x1000
PARTIDS = 64
STORAGE, BANDWIDTH = 0, 1
NEVER_READ, NOT_READY, WRAPPED = 1, 2, 4
SECTION: dict[str, Any] = {
    "partids": PARTIDS,
    "source": "a test",
    "components": (
        {
            "name": "l3",
            "at": 0x2C000000,
            "version": "1.1",
            "resources": ({"cache": "l3", "portions": 32}, {"memory": "dram"}),
        },
    ),
}
PORTIONS = {1: 0xC0000000, 3: 0xF, 4: 0xF0, 5: 0xF00}  # of the hypervisor, control, linux, hog


def promise() -> MpamPromise:
    owners = ("hypervisor", "control", "linux", "hog")
    partitions = tuple(Partition(name, partid) for name, partid in zip(owners, PORTIONS, strict=True))
    settings = tuple(
        ComponentSettings("l3", 0, partid, Settings(cache_portions=bitmap))
        for partid, bitmap in PORTIONS.items()
    )
    return MpamPromise(Mpam.model_validate(SECTION), MpamPlan(partitions, settings))


def registers(change: dict[int, int] | None = None) -> list[dict[str, int]]:
    held = {partid: PORTIONS.get(partid, PORTIONS[1]) for partid in range(PARTIDS)} | (change or {})
    return [
        {"component": 0, "instance": 0, "partid": partid, "offset": CPBM, "value": value}
        for partid, value in held.items()
    ]


def monitor(owner: int, kind: int, nbytes: int, most: int = 0, flags: int = 0) -> dict[str, Any]:
    of = {"kind": kind, "instance": kind, "owner": owner, "bytes": nbytes, "most_bytes": most}
    return {"partid": 3 + owner if owner < 8 else 1, "flags": flags, **of}


MONITORS = [
    monitor(0xFFFF, STORAGE, 4096, 8192),
    monitor(0, STORAGE, 65536, 131072),
    monitor(1, STORAGE, 1 << 20, 1 << 20, NOT_READY),
    monitor(2, STORAGE, 0, 0, NEVER_READ | NOT_READY),
    monitor(0xFFFF, BANDWIDTH, 2_000_000),
    monitor(0, BANDWIDTH, 40_000_000),
    monitor(1, BANDWIDTH, 6_000_000_000, 0, WRAPPED),
]
PAGE = {
    "start_ticks": HZ // 1000,
    "writes": 704,
    "reads": 100,
    "read_sum_ticks": 100 * HZ // 1_000_000,
    "read_max_ticks": 3 * HZ // 1_000_000,
    "errors": [0, 0, 3, 0, 0, 0, 0, 0, 0, 1] + [0] * 6,
    "error_interrupts": 2,
    "without_monitor": 1,
}


def made(directory: Path, **keys: Any) -> MadeUp:
    mpam = MadeUpMpam(promise(), **{"page": PAGE, "monitors": MONITORS, "registers": registers()} | keys)
    return MadeUp(directory, colored=False, mpam=mpam)


def test_registers_as_planned_hold_and_are_a_witness(tmp_path: Path) -> None:
    result = made(tmp_path).result()
    assert result["reasons"] == []
    witness = result["witnesses"]["mpam"]
    assert (witness["verdict"], witness["registers_checked"]) == ("held", PARTIDS)


def test_a_register_that_differs_fails_the_run_with_its_place(tmp_path: Path) -> None:
    result = made(tmp_path, registers=registers({5: 0xFF, 4: 0xF1})).result()
    assert result["verdict"] == "failed"
    assert result["reasons"] == [
        "mpam: l3, instance 0, PARTID 4 (linux): MPAMCFG_CPBM0 gives 0xF1 (0x1 of control), planned is 0xF0, "
        "and 1 more"
    ]
    second = result["witnesses"]["mpam"]["findings"][1]
    assert (second["owner"], second["found"]) == ("hog", "0xFF (0xF of control, 0xF0 of linux)")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"published": False}, "the hypervisor has written no data about MPAM"),
        ({"page": {"state": 2}}, "the components are not programmed: MPAM is `firmware`"),
        ({"page": {"dump_frame": 1 << 20}}, "the dump of registers could not be read"),
    ],
)
def test_a_witness_that_cannot_speak_fails_the_run_too(
    tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    result = made(tmp_path, **change).result()
    assert result["witnesses"]["mpam"] == {"verdict": "missing", "reason": reason}
    assert result["reasons"] == [f"mpam: {reason}"]


def test_a_dump_of_many_frames_is_read_whole(tmp_path: Path) -> None:
    """The maximum is 4096 rows; data of a broken writer beyond that are not used."""
    rows = registers() * 64
    result = made(tmp_path, registers=rows, page={**PAGE, "dump_count": 1 << 31}).result()
    assert result["witnesses"]["mpam"]["verdict"] == "held"
    rows[-1] = {**rows[-1], "value": 0xFF}
    assert made(tmp_path, registers=rows).result()["witnesses"]["mpam"]["verdict"] == "broken"


def test_monitors_are_given_by_domain_with_their_flags(tmp_path: Path) -> None:
    result = made(tmp_path).result()
    control, linux, hog = (domain["mpam"] for domain in result["domains"])
    assert control == [
        {"resource": "l3", "kind": "storage", "bytes": 65536, "most_bytes": 131072, "flags": []},
        {"resource": "dram", "kind": "bandwidth", "bytes": 40_000_000, "flags": []},
    ]
    assert [one["flags"] for one in linux] == [["not_ready"], ["wrapped"]]
    assert [one["flags"] for one in hog] == [["never_read", "not_ready"]]
    assert [one["bytes"] for one in result["hypervisor"]["mpam"]] == [4096, 2_000_000]
    assert result["mpam"] == {
        "state": "enabled", "version": "1.1", "components": 1, "writes": 704, "start_ns": 1_000_000,
        "reads": 100, "read_mean_ns": 992, "read_max_ns": 2992, "without_monitor": 1,
        "errors": {"Req_PARTID_Range": 3, "RIS_No_Control": 1}, "error_interrupts": 2,
    }  # fmt: skip


def test_the_report_says_so_in_80_columns_and_on_the_page(tmp_path: Path) -> None:
    made(tmp_path).result()
    run = load_run(tmp_path)
    console = Console(width=80, record=True, force_terminal=True, file=io.StringIO())
    show_run(run, console)
    lines = console.export_text().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    rows = [line.split() for line in lines if " dram " in line or " l3 " in line]
    assert rows[0] == ["control", "l3", "64", "KiB", "128", "KiB", "–", "–"]
    assert ["dram", "–", "–", "5.59", "GiB", "300.0", "wrapped"] in rows, "6 GB in 20 s"
    assert ["hog", "l3", "–", "–", "–", "–", "never", "read,", "not", "ready"] in rows
    text = " ".join(" ".join(lines).split())
    assert "3 Req_PARTID_Range, 1 RIS_No_Control (2 interrupts)" in text
    assert "start 1 ms; 100 reads of monitors, mean 992 ns, max 2.99 µs; 1 partitions without" in text
    assert "64 registers of components compared with the plan, 0 wrong" in text
    page = render([run])
    for words in ("Storage and bandwidth by domain", "wrapped", "Req_PARTID_Range", "5.59 GiB"):
        assert words in page


def test_top_shows_what_moved_since_the_look_before(tmp_path: Path) -> None:
    target = made(tmp_path)._target({name: [] for name in ("control", "linux", "hog")}, [], [])
    pages = made(tmp_path)._pages([0, 0, 0], 0, 100)
    status = read_status(LAYOUT, [page.ljust(4096, b"\0") for page in pages])
    assert isinstance(status, SystemStatus)
    monitors = (
        MonitorStatus(0, 0, "storage", 3, 0, 65536, 131072, False, False, False),
        MonitorStatus(0, 1, "bandwidth", 3, 0, 40_000_000, 0, False, True, False),
    )
    now = MpamStatus("enabled", 0x11, 0, 0, 0, 0, 0, {"Monitor_Range": 2}, 1, monitors, 0, None, 0)
    moved = replace(now, monitors=(monitors[0], replace(monitors[1], bytes=30_000_000)))
    window = LiveWindow(seconds=2.0, clock="guest", guest_s=4.0, mpam_before=moved)
    table = live_table(target, status, window, now)
    storage, bandwidth = table["domains"][0]["mpam"]
    assert storage["bytes"] == 65536 and bandwidth["per_s"] == 5_000_000
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(top_view.view_of({**table, "state": "running"}))
    text = console.export_text()
    assert "64 KiB" in text and "5.0" in text and "not ready" in text and "2 Monitor_Range" in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80


def test_what_a_broken_hypervisor_publishes_gives_no_exception() -> None:
    page = b"\xff" * 4096
    no_pages: dict[int, bytes] = {}
    found = read_mpam(LAYOUT, 1, [0, 4096, 8192], {4096: page}.get)
    assert isinstance(found, MpamStatus)
    assert found.dump is None and len(found.monitors) == LAYOUT.constant("max_mpam_monitors")
    assert isinstance(read_mpam(LAYOUT, 1, [0, 4096], no_pages.get), str)
    assert isinstance(read_mpam(LAYOUT, 2, [0, 4096], {4096: page}.get), str)
