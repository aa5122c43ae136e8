# SPDX-License-Identifier: Apache-2.0
"""Samples in on-chip memory (B8), on the simulated ZCU102: the same samples as in a ring in RAM, without its
traffic. One system runs on the board and on one that lacks the memory or has too little."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bulkhead.env.native import ensure_built
from bulkhead.env.paths import repository
from bulkhead.evidence.tables import check_tables
from bulkhead.evidence.vmsa import Words
from bulkhead.machine.hosted import run_hosted
from bulkhead.package.build import Build
from bulkhead.run.prepare import make_promise
from bulkhead.run.samples import Recorder, RingPlaces, Sample, add_all
from bulkhead.run.status import SystemStatus, read_status

from .systems import MS, built_from, domain, said

FOR_MS = 23
PERIOD_US = 30
PERIODS = FOR_MS * 1000 // PERIOD_US
CORES = 3
ON_CHIP = range(0xFFFC_0000, 0xFFFC_0000 + 4 * 8 * 4096, 4096)
HYPERVISOR = 1  # owner of lines
OCM = re.compile(r"^ocm: .*$", re.MULTILINE)


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    ensure_built(["host"], ["hosted_run", "hosted_guest_bandwidth"])


@dataclass(frozen=True)
class Seen:
    build: Build
    status: SystemStatus
    answer: dict[str, Any]
    frames: dict[int, bytes]
    console: str
    samples: list[Sample]

    def dram_lines(self) -> int:
        """Lines of the hypervisor that were fetched from the DRAM or written there."""
        own = self.answer["levels"]["l2"]["owners"][HYPERVISOR]
        return int(own["misses"]) + int(own["write_backs"])

    def touched_lines(self) -> int:
        """Lines of the hypervisor that were accessed in the shared cache."""
        return int(self.answer["levels"]["l2"]["owners"][HYPERVISOR]["accesses"])


def walker(core: int, **keys: Any) -> dict[str, Any]:
    """Reads more than the caches hold, repeatedly, so that EL2's lines are soon evicted."""
    memory = [{"at": 0x4000_0000, "size": "16 MiB"}]
    params = {"iterations": 0, "size_kib": 2048, "write": 0}
    return domain(f"walker{core}", "bandwidth", [core], memory=memory, params=params, **keys)


def limited(core: int) -> dict[str, Any]:
    return walker(core, bandwidth={"budget": "400 MB/s", "period": f"{PERIOD_US} us"})


def run(directory: Path, ocm: str | None, *, regulation: dict[str, Any] | None = None) -> Seen:
    """A run on a ZCU102 whose platform file has this in place of the line `ocm`; None: the file itself."""
    platform = "zcu102"
    if ocm is not None:
        text = (repository() / "platforms" / "zcu102.yaml").read_text()
        assert len(OCM.findall(text)) == 1
        directory.mkdir(parents=True)
        (directory / "zcu102.yaml").write_text(OCM.sub(ocm, text))
        platform = "./zcu102.yaml"
    # Regulated like the others if they are, and then with an initial budget.
    keys_of_last = {"bandwidth": {"budget": "2 GB/s", "period": f"{PERIOD_US} us"}} if regulation else {}
    build = built_from(
        directory,
        limited(1),
        limited(2),
        walker(3, **keys_of_last),
        platform=platform,
        isolation={"llc": "none"},
        for_ns=FOR_MS * MS,
        regulation=regulation or {"policy": "static"},
    )
    pool = make_promise(build.plan).pool_frames.tolist()
    done = run_hosted(build, frames=(*build.status_pages, *pool, *(ON_CHIP if ocm is None else ())))
    assert done.answer["ending"] == "off", done.answer["trouble"]
    status = read_status(build.layout, [done.frames[pa] for pa in build.status_pages])
    assert isinstance(status, SystemStatus), status
    recorder = Recorder(build.layout)
    add_all(recorder, status, RingPlaces(pool, ON_CHIP), done.frames.get)
    return Seen(build, status, done.answer, done.frames, done.console, recorder.samples)


@pytest.fixture(scope="module")
def on_chip(built: None, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return run(tmp_path_factory.mktemp("chip") / "sram", None)


@pytest.fixture(scope="module")
def in_ram(built: None, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return run(tmp_path_factory.mktemp("ram") / "none", "")


def places_of(seen: Seen) -> list[int]:
    return [core.samples_pa for core in seen.status.cores if core.samples_bytes != 0]


def test_b8_rings_are_in_on_chip_memory_where_the_board_has_some(on_chip: Seen, in_ram: Seen) -> None:
    assert places_of(on_chip) == [ON_CHIP.start, ON_CHIP.start + 8 * 4096]
    assert "samples in on-chip memory at fffc0000" in said(on_chip.console, "bulkhead")
    pool = make_promise(in_ram.build.plan).pool_frames.tolist()
    assert all(place in pool for place in places_of(in_ram))
    assert "samples" not in said(in_ram.console, "bulkhead")


def test_b8_they_hold_the_same_samples_as_in_ram(on_chip: Seen, in_ram: Seen) -> None:
    """They are of the same periods. Times differ by the samples' own traffic: the first ones are those at
    which each core took its interrupt."""
    kept = [[(s.core, s.domain, s.vcpu, s.budget, s.period_ticks) for s in seen.samples]
            for seen in (on_chip, in_ram)]  # fmt: skip
    assert kept[0] == kept[1]
    assert len(kept[0]) >= 2 * 511
    for core in (1, 2):
        one, other = ([s.events for s in seen.samples if s.core == core] for seen in (on_chip, in_ram))
        assert all(a <= s.budget + 64 for a, s in zip(one, on_chip.samples, strict=False))
        assert sum(one) == pytest.approx(sum(other), rel=0.05)


def test_b8_they_cause_no_traffic_of_the_dram(tmp_path: Path) -> None:
    """There is no more traffic than without any samples (less, as interrupts come at other times). In RAM one
    or two lines of each sample are fetched and written back."""
    lines = {}
    for name, ocm, stored in (("none", None, False), ("on chip", None, True), ("in RAM", "", True)):
        regulation = {
            "policy": "dynamic-bandwidth",
            "interval": f"{PERIOD_US} us",
            "threshold": "6 GB/s",
            "floor": "110 MB/s",  # at least 50 events in an interval
            "overcommit": True,
            "samples": stored,
        }
        seen = run(tmp_path / name, ocm, regulation=regulation)
        assert bool(seen.samples) == stored
        lines[name] = seen.dram_lines()
    of_rings = lines["in RAM"] - lines["none"]
    assert of_rings > CORES * PERIODS, lines
    assert lines["on chip"] < lines["none"] + 0.1 * of_rings, lines


def test_c5_b8_the_witness_knows_what_el2_maps_of_it(on_chip: Seen) -> None:
    promise = make_promise(on_chip.build.plan)
    vttbr = {d.name: s.vttbr for d, s in zip(promise.domains, on_chip.status.domains, strict=False)}
    pool = set(promise.pool_frames.tolist())

    def words(pa: int) -> Words | None:
        return np.frombuffer(on_chip.frames[pa], dtype="<u8") if pa in pool else None

    assert check_tables(promise, words, vttbr, on_chip.status.ttbr0_el2).ok
    others = tuple(window for window in promise.hypervisor_devices if window.pa != ON_CHIP.start)
    assert len(others) == len(promise.hypervisor_devices) - 1
    found = check_tables(
        replace(promise, hypervisor_devices=others), words, vttbr, on_chip.status.ttbr0_el2
    ).findings
    assert {finding.where for finding in found} == {"hypervisor"}
    assert [finding.address for finding in found] == list(ON_CHIP)[:8], "the first ones of two rings"


def test_b8_too_little_on_chip_memory_is_left_alone(in_ram: Seen, tmp_path: Path) -> None:
    small = run(tmp_path / "small", 'ocm: { at: 0xFFFC0000, size: 60 KiB, source: "a test" }')
    assert places_of(small) == places_of(in_ram)
    assert "samples in RAM: on-chip memory is too small for 2 rings" in said(small.console, "bulkhead")
    assert len(small.samples) == len(in_ram.samples)
