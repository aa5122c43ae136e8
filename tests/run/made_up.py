# SPDX-License-Identifier: Apache-2.0
"""An invented run for tests of results and reports: three domains, eight colors, correct tables in memory.

Status pages are packed with the layout, tables with the test's own builder: the code under test reads them
like a machine's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from bulkhead.config.system import Expectation
from bulkhead.evidence.mpam_promise import MpamPromise
from bulkhead.evidence.promise import DomainPromise, Promise, PromisedWindow
from bulkhead.planning.budgets import Budget
from bulkhead.planning.device_rates import DeviceRate
from bulkhead.planning.mechanism import Choices
from bulkhead.planning.regulation import RegulatorPlan
from bulkhead.results.problem import ProblemResult
from bulkhead.run.conclude import conclude
from bulkhead.run.console import ConsoleParser
from bulkhead.run.emulator import EmulatedMachine
from bulkhead.run.memory import MemoryImage
from bulkhead.run.session import RunOutcome
from bulkhead.run.target import DomainTarget, RunOptions, Target
from bulkhead.schema.layout import load_layout

from ..evidence.table_image import MIB, PAGE, S1_DATA, S2_NORMAL_RW, TableImage, colored_frames

LAYOUT = load_layout()
RAM, SHIFT, COLORS, CORES = 0x4000_0000, 13, 8, 4
HZ = 62_500_000
CACHED_WALKS = 0b11_01_01 << 8  # VTCR_EL2: inner shareable, write-back tables, as EL2 sets it
MPAM_FRAMES = 17  # at the end of the pool
MPAM_CHOICES = Choices("mpam", "a test", "mpam", "a test")
NAMES = ("control", "linux", "hog")
COLOR_SETS = {"control": {0, 1, 2}, "linux": {3, 4, 5}, "hog": {6}}
CORE_DOMAIN = (0, 1, 1, 2)
CONSOLE = (
    b"[bulkhead     0.000001] started\r\n"
    b"[control      0.010400] bulkhead: ready\r\n"
    b"[hog          0.000900] bulkhead: ready\r\n"
    b'[control     19.000000] report {"releases": 19000, "jitter_ns": {"min": 900, "max": 70000}, '
    b'"histogram": [0, 0, 0, 0, 0, 0, 0, 0, 0, 400, 12000, 5200, 1200, 150, 40, 8, 2]}\r\n'
    b"[linux        2.104311] ~ # "
)


@dataclass
class MadeUpMpam:
    """Data that the hypervisor has published, in the last frames of the pool: page, then registers."""

    promise: MpamPromise
    page: dict[str, Any] = field(default_factory=dict)  # fields of status_mpam to replace
    monitors: list[dict[str, Any]] = field(default_factory=list)
    registers: list[dict[str, int]] = field(default_factory=list)
    published: bool = True

    def frames(self, first: int) -> dict[int, bytes]:
        """Contents by the number of a frame."""
        blank = LAYOUT.unpack("status_mpam_monitor", bytes(LAYOUT.size("status_mpam_monitor")))
        monitors: list[Any] = [{**blank, **one} for one in self.monitors]
        monitors += [blank] * (LAYOUT.constant("max_mpam_monitors") - len(monitors))
        page = LAYOUT.unpack("status_mpam", bytes(LAYOUT.size("status_mpam"))) | {
            "state": LAYOUT.enum_value("mpam_state", "enabled"),
            "version": 0x11,
            "dump_frame": first + 1,
            "dump_count": len(self.registers),
            "monitor_count": len(self.monitors),
            "monitors": monitors,
            **self.page,
        }
        rows = b"".join(LAYOUT.pack("status_mpam_register", one) for one in self.registers)
        found = {first: LAYOUT.pack("status_mpam", page)}
        return found | {
            first + 1 + number: rows[start : start + PAGE]
            for number, start in enumerate(range(0, len(rows), PAGE))
        }


@dataclass
class MadeUp:
    """Change fields to create an error, then call `result`."""

    directory: Path
    colored: bool = True
    expected: dict[str, str] = field(default_factory=dict)
    expects: dict[str, Expectation] = field(default_factory=dict)
    options: RunOptions = field(default_factory=lambda: RunOptions(observe=True, for_ns=20 * 10**9, seed=7))
    system: dict[str, Any] = field(default_factory=dict)  # fields of status_system to replace
    domains: dict[str, dict[str, Any]] = field(default_factory=dict)  # fields of status_domain to replace
    evicted: dict[tuple[str, str], int] = field(default_factory=dict)  # (victim, evictor) -> lines
    miscolored: bool = False
    observer: bool = True
    verified: bool = True  # what the observer says of its addresses
    mpam: MadeUpMpam | None = None
    notices: tuple[ProblemResult, ...] = ()
    unconfined: dict[str, tuple[str, ...]] = field(default_factory=dict)
    device_rates: dict[str, tuple[DeviceRate, ...]] = field(default_factory=dict)
    budgets: dict[str, Budget] = field(default_factory=dict)  # of refills, by domain
    counted: dict[str, dict[str, int]] = field(default_factory=dict)  # fields of its cores' status_budget
    regulator: RegulatorPlan | None = None
    console: bytes = CONSOLE
    how: str = "shutdown"
    detail: str = ""
    simulated_ns: int | None = None
    told_ns: int | None = None
    host_ns: int | None = None

    def result(self) -> dict[str, Any]:
        self.directory.mkdir(parents=True, exist_ok=True)
        frames = {
            name: colored_frames(RAM + 16 * MIB, 8 * MIB, colors, SHIFT, COLORS)
            for name, colors in COLOR_SETS.items()
        }
        pool = colored_frames(RAM + 2 * MIB, 4 * MIB, {7}, SHIFT, COLORS)
        status_frames, table_frames = pool[: 1 + CORES], pool[1 + CORES :]
        tables = TableImage(table_frames)
        roots = [self._stage2(tables, frames[name], name) for name in NAMES]
        el2 = tables.table()
        for index, pa in enumerate(pool):
            tables.map(el2, 0x10_0000_0000 + index * PAGE, pa, S1_DATA)
        image = MemoryImage()
        for pa in table_frames:
            words = tables.read_frame(pa)
            assert words is not None
            image.frames[pa] = words
        for pa, page in zip(status_frames, self._pages(roots, el2, len(pool)), strict=True):
            image.frames[pa] = np.frombuffer(page.ljust(PAGE, b"\0"), dtype="<u8")
        if self.mpam is not None:
            for number, content in self.mpam.frames(len(pool) - MPAM_FRAMES).items():
                image.frames[pool[number]] = np.frombuffer(content.ljust(PAGE, b"\0"), dtype="<u8")
        parser = ConsoleParser(NAMES)
        parser.feed(self.console)
        parser.finish()
        target = self._target(frames, pool, status_frames)
        if self.observer and target.observer_result:
            target.observer_result.write_text(json.dumps(self._observed()))
        outcome = RunOutcome(
            self.how, self.detail, image, parser, 31.5, "10.0.2", ("qemu-system-aarch64", "-machine", "virt")
        )
        outcome.simulated_ns = self.simulated_ns
        outcome.told_ns, outcome.host_ns = self.told_ns, self.host_ns
        return dict(conclude(target, outcome, version="0.1.0", commit="0123456789ab"))

    def _stage2(self, tables: TableImage, frames: list[int], name: str) -> int:
        root = tables.table()
        for index, pa in enumerate(frames):
            tables.map(root, 0x4000_0000 + index * PAGE, pa, S2_NORMAL_RW)
        if self.miscolored and name == "linux":
            wrong = RAM + 64 * MIB
            tables.store(*tables.leaf_slot(root, 0x4000_0000), wrong | S2_NORMAL_RW | 3)
            frames[0] = wrong
        return root

    def _pages(self, roots: list[int], el2: int, pool_frames: int) -> list[bytes]:
        blank = LAYOUT.unpack("status_domain", bytes(LAYOUT.size("status_domain")))
        domains: list[Any] = []
        for index, name in enumerate(NAMES):
            entry = {
                **blank,
                "state": 1,
                "vttbr": roots[index] | (index + 1) << 48 | 1,
                "vtcr": CACHED_WALKS,
                "started_at": 1000,
            }
            domains.append({**entry, **self.domains.get(name, {})})
        domains += [blank] * (LAYOUT.constant("max_domains") - len(domains))
        system = LAYOUT.unpack("status_system", bytes(LAYOUT.size("status_system"))) | {
            "magic": LAYOUT.constant("status_magic"),
            "version": LAYOUT.version,
            "phase": 2,
            "end_reason": 2,
            "core_count": CORES,
            "domain_count": len(NAMES),
            "counter_hz": HZ,
            "started_at": 1000,
            "ended_at": 1000 + 20 * HZ,
            "ttbr0_el2": el2 | 1,
            "pool_frames": pool_frames,
            "pool_used": 90,
            "mpam_frame": pool_frames - MPAM_FRAMES if self.mpam and self.mpam.published else 0,
            "domains": domains,
            **self.system,
        }
        pages = [LAYOUT.pack("status_system", system)]
        for core in range(CORES):
            raw = LAYOUT.unpack("status_core", bytes(LAYOUT.size("status_core"))) | {
                "magic": LAYOUT.constant("status_magic"),
                "core": core,
                "domain": CORE_DOMAIN[core],
                "vcpu": 1 if core == 2 else 0,
                "injected": 100 * core,
            }
            counts = {
                "hvc": 3,
                "irq_timer": 20000 if core == 0 else 5000,
                "wfx": 800 * core,
                "gicd_access": 40,
            }
            exits = list(cast("list[int]", raw["exits"]))
            for reason, n in counts.items():
                exits[LAYOUT.enum_value("exit_reason", reason)] = n
            budget = {
                **cast("dict[str, Any]", raw["budget"]),
                **self.counted.get(NAMES[CORE_DOMAIN[core]], {}),
            }
            pages.append(LAYOUT.pack("status_core", {**raw, "exits": exits, "budget": budget}))
        return pages

    def _target(self, frames: dict[str, list[int]], pool: list[int], status_frames: list[int]) -> Target:
        def sorted_array(values: list[int]) -> Any:
            return np.array(sorted(values), dtype=np.uint64)

        promise = Promise(
            color_bits=(COLORS - 1) << SHIFT if self.colored else 0,
            domains=tuple(
                DomainPromise(name, frozenset(COLOR_SETS[name]), sorted_array(frames[name])) for name in NAMES
            ),
            hypervisor_colors=frozenset({7}),
            pool_frames=sorted_array(pool),
            ram=(PromisedWindow(RAM, 1 << 30),),
            load_area=PromisedWindow(RAM, 2 * MIB),
            hypervisor_devices=(),
        )
        return Target(
            system="made-up",
            system_file="examples/made-up.yaml",
            platform="qemu-virt",
            platform_sha256="ab" * 32,
            package_sha256="cd" * 32,
            program="full",
            machine=EmulatedMachine(Path("qemu"), "virt", "cortex-a53", 4, 1 << 30, Path("k")),
            layout=LAYOUT,
            status_frames=tuple(status_frames),
            promise=promise,
            domains=tuple(
                DomainTarget(
                    n,
                    tuple(c for c in range(CORES) if NAMES[CORE_DOMAIN[c]] == n),
                    n == "control",
                    tuple(sorted(COLOR_SETS[n])),
                    self.expected.get(n),
                    self.expects.get(n),
                    budget=self.budgets.get(n),
                    event="L2D_CACHE_REFILL" if n in self.budgets else None,
                    unconfined=self.unconfined.get(n, ()),
                    device_rates=self.device_rates.get(n, ()),
                )
                for n in NAMES
            ),
            options=self.options,
            directory=self.directory,
            observer_result=self.directory / "observe-result.json" if self.options.observe else None,
            color_count=COLORS if self.colored else 1,
            granule_bytes=8192,
            mechanism=MPAM_CHOICES if self.mpam else None,
            mpam=self.mpam.promise if self.mpam else None,
            notices=self.notices,
            regulator=self.regulator,
        )

    def _observed(self) -> dict[str, Any]:
        owners = ["nobody", "hypervisor", *NAMES]
        accesses = dict(zip(owners, (0, 90_000, 800_000, 2_400_000, 9_000_000), strict=True))

        def others(victim: str) -> int:
            return sum(self.evicted.get((victim, evictor), 0) for evictor in owners if evictor != victim)

        rows = {}
        for victim in owners:
            by = {evictor: self.evicted.get((victim, evictor), 0) for evictor in owners}
            by[victim] = accesses[victim] // 10
            rows[victim] = {"accesses": accesses[victim], "misses": accesses[victim] // 9, "evicted_by": by}
        windows = [
            {
                "end_ms": 500.0 * (i + 1),
                "accesses": 200_000,
                "owners": {
                    name: {
                        "misses": accesses[name] // 360 * (1 + i % 3),
                        "evicted_by_others": others(name) // 40,
                    }
                    for name in owners
                },
            }
            for i in range(40)
        ]
        llc = {"size": 1 << 20, "ways": 16, "line": 64, "sets": 1024, "replacement": "random"}
        return {
            "format": 1,
            "started": True,
            "fetch_addresses": {"verified": self.verified},
            "caches": {"llc": llc},
            "owners": rows,
            "windows": windows,
            "unattributed": {"data_unknown": 0},
        }


UNPROTECTED_EVICTIONS = {
    ("control", "hog"): 61_204,
    ("control", "linux"): 2_310,
    ("control", "hypervisor"): 187,
    ("linux", "hog"): 183_400,
    ("linux", "control"): 900,
    ("linux", "hypervisor"): 420,
    ("hog", "linux"): 90_100,
    ("hog", "control"): 8_020,
    ("hypervisor", "hog"): 700,
    ("hypervisor", "linux"): 99,
}
