# SPDX-License-Identifier: Apache-2.0
"""The bound of a refill of a dynamic region: computed, as in the platform file, and the longest refill that
the simulated machine shows in the microkernel's system `ranges` (X8)."""

from __future__ import annotations

from dataclasses import dataclass

from bulkhead.bounds.refill import NotBounded, RefillBound
from bulkhead.bounds.refill import refill_bound as computed_bound
from bulkhead.results.bench import RefillBoundKeys

LAST_LINE = "many killed"  # of that system
LONGEST_PS = 10**12


@dataclass(frozen=True)
class MeasuredRefill:
    platform: str
    bound: RefillBound
    in_file: int | None
    seen: int
    refills: int

    @property
    def reasons(self) -> list[str]:
        found = []
        if self.in_file is None or self.in_file < self.bound.cycles:
            found.append(
                f"`cores.mpu.bound` of '{self.platform}' is {self.in_file or 'missing'}, but the bound of "
                f"the linked kernel is {self.bound.cycles}"
            )
        if self.seen > self.bound.cycles:
            found.append(f"a refill took {self.seen} cycles, more than the bound: the computation is wrong")
        return found

    def rows(self) -> list[str]:
        width = max(len(text) for text, _ in self.bound.rows())
        rows = [f"{text:{width}}  {cycles:>6}" for text, cycles in self.bound.rows()]
        return [
            *rows,
            f"{'computed bound, cycles':{width}}  {self.bound.cycles:>6}",
            f"{'as the platform file has it':{width}}  {self.in_file or 'none':>6}",
            f"{f'longest of {self.refills} refills of the system `ranges`':{width}}  {self.seen:>6}",
            f"{'ratio':{width}}  {self.bound.cycles / self.seen:>6.1f}",
        ]

    def json(self) -> RefillBoundKeys:
        return {
            "bound_cycles": self.bound.cycles,
            "parts": dict(self.bound.rows()),
            "file_cycles": self.in_file,
            "longest_seen_cycles": self.seen,
            "refills_seen": self.refills,
        }


def measure(name: str) -> MeasuredRefill | list[str]:
    """Returns a list of reasons if nothing could be computed."""
    from bulkhead.config.load import load_platform
    from bulkhead.config.locate import platform_path
    from bulkhead.env.native import ensure_built
    from bulkhead.env.paths import build_dir
    from bulkhead.machine import armv7
    from bulkhead.machine.settings import NotSimulated

    path = platform_path(name)
    platform = load_platform(path)[0] if path is not None else None
    if platform is None or platform.cores.mpu is None or platform.microkernel is None:
        return [f"'{name}' is not a platform with an MPU and the microkernel"]
    ensure_built(["target"], ["microkernel"])
    armv7.ensure_armv7()
    board = build_dir() / "target" / "microkernel" / "board" / platform.microkernel.board
    try:
        bound = computed_bound(platform, board / "kernel.elf")
        ran = armv7.run(
            armv7.request_of(platform, board / "ranges.elf", until_ps=LONGEST_PS, until_line=LAST_LINE)
        )
    except (NotBounded, NotSimulated, armv7.Armv7NotRun) as error:
        return [str(error)]
    mpu = ran.answer["mpu"]
    return MeasuredRefill(name, bound, platform.cores.mpu.bound, mpu["longest_miss_cycles"], mpu["misses"])
