# SPDX-License-Identifier: Apache-2.0
"""The machine's DRAM compared with a peer's, on the same requests: DRAMsim3 (Li et al., IEEE CAL 2020), which
the user has built. Its configuration files describe the memory for both.

Both get a trace of requests at given clocks; if a mix saturates them, the trace is longer than they can serve
in the time. The peer takes one request a clock and delays the next one while its queue is full. It has one
queue of 32 requests, served first-ready first-come, like the machine; it has its own rule for switching to
writes.
"""

from __future__ import annotations

import configparser
import io
import json
import random
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from bulkhead.env.progress import Update
from bulkhead.errors import BulkheadError
from bulkhead.machine.native import dram_alone

CLOCKS = 200_000
SEED = 1
QUEUE = 32  # requests
LIMIT = 0.05  # of mixes that both serve by the same policy
CONFIGURATIONS = ("DDR3_4Gb_x16_1600", "DDR4_8Gb_x8_2400", "DDR4_4Gb_x16_2133", "LPDDR3_8Gb_x32_1600")
_PARTS = {"ch": "channel", "ra": "rank", "bg": "group", "ba": "bank", "ro": "row", "co": "column"}
# Including the peer's defaults for values that a file does not give (one of its own files has `REFI` for
# `tREFI`).
_TIMES = {
    "CL": 12,
    "CWL": 12,
    "tRCD": 10,
    "tRP": 10,
    "tRAS": 24,
    "tCCD_S": 4,
    "tCCD_L": 6,
    "tRRD_S": 4,
    "tRRD_L": 4,
    "tFAW": 50,
    "tWR": 10,
    "tWTR_S": 5,
    "tWTR_L": 5,
    "tRTP": 5,
    "tREFI": 7800,
    "tRFC": 74,
}


class PeerFailed(BulkheadError):
    """The peer or its configuration cannot be used; the message is for the user."""


@dataclass(frozen=True)
class PeerMemory:
    """One of the peer's configuration files, in the machine's terms; times in clocks."""

    name: str
    text: str  # for the peer
    period_ps: float
    burst_clocks: int
    line_bytes: int
    size: int
    settings: dict[str, Any]  # of the machine: its DRAM alone

    @property
    def peak_bytes_per_s(self) -> float:
        return self.line_bytes / (self.burst_clocks * self.period_ps * 1e-12)


@dataclass(frozen=True)
class PeerRequest:
    clock: int
    address: int
    write: bool


@dataclass(frozen=True)
class Found:
    bytes_per_s: float
    read_clocks: float  # of a read on average, from its arrival to the end of its data


@dataclass(frozen=True)
class Mix:
    """`share`: share of the DRAM's peak that is requested; above 1 it is more than the DRAM can move."""

    name: str
    share: float
    addresses: Callable[[random.Random, PeerMemory], Iterator[int]]
    one_write_in: int = 0  # 0: reads only

    @property
    def saturates(self) -> bool:
        return self.share >= 1

    @property
    def judged(self) -> bool:
        """Whether both serve it by the same policy."""
        return self.one_write_in == 0


@dataclass(frozen=True)
class PeerBeside:
    memory: str
    mix: Mix
    peak_bytes_per_s: float
    ours: Found
    theirs: Found

    @property
    def error(self) -> float:
        """Error of the bandwidth for a mix that saturates, of the latency for another one."""
        if self.mix.saturates:
            return self.ours.bytes_per_s / self.theirs.bytes_per_s - 1
        return self.ours.read_clocks / self.theirs.read_clocks - 1

    @property
    def holds(self) -> bool:
        return not self.mix.judged or abs(self.error) <= LIMIT


def _sequential(_: random.Random, memory: PeerMemory) -> Iterator[int]:
    while True:
        yield from range(0, memory.size, memory.line_bytes)


def _scattered(random_: random.Random, memory: PeerMemory) -> Iterator[int]:
    while True:
        yield random_.randrange(memory.size // memory.line_bytes) * memory.line_bytes


def _both(random_: random.Random, memory: PeerMemory) -> Iterator[int]:
    """Three lines of a stream, then one random line."""
    stream, scattered = _sequential(random_, memory), _scattered(random_, memory)
    while True:
        for _ in range(3):
            yield next(stream)
        yield next(scattered)


MIXES = (
    Mix("sequential reads", 2, _sequential),
    Mix("random reads", 2, _scattered),
    Mix("stream and random reads", 2, _both),
    Mix("sequential, one write in three", 2, _sequential, 3),
    Mix("random, one write in three", 2, _scattered, 3),
    Mix("sequential reads, 30 % of the peak", 0.3, _sequential),
    Mix("random reads, 10 % of the peak", 0.1, _scattered),
    Mix("random reads, 30 % of the peak", 0.3, _scattered),
)


def memory_of(file: Path) -> PeerMemory:
    """Reads a configuration file of the peer. Raises PeerFailed."""
    parser = configparser.ConfigParser(inline_comment_prefixes=(";", "#"))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(file.read_text())
        structure, timing, system = (parser[name] for name in ("dram_structure", "timing", "system"))
        system.update(
            queue_structure="PER_RANK",
            cmd_queue_size=str(QUEUE),
            trans_queue_size=str(QUEUE),
            write_buf_size=str(QUEUE),
        )
        beats, width = int(structure["BL"]), system.getint("bus_width", 64)
        line = beats * width // 8
        counts = {
            "channel": system.getint("channels", 1),
            "group": structure.getint("bankgroups", 1),
            "bank": int(structure["banks_per_group"]),
            "row": int(structure["rows"]),
            "column": int(structure["columns"]) // beats,
        }
        size = int(system["channel_size"]) << 20
        of_a_rank = line * counts["group"] * counts["bank"] * counts["row"] * counts["column"]
        counts["rank"] = max(1, size // of_a_rank)
        period_ps = float(timing["tCK"]) * 1000
        clocks = {name: timing.getint(name, silent) for name, silent in _TIMES.items()}
        switch = timing.getint("tRTRS", 2)
        order = system.get("address_mapping", "chrobabgraco")
    except (OSError, configparser.Error, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise PeerFailed(f"{file}: {error}") from error
    burst = beats // 2
    text = io.StringIO()
    parser.write(text)
    return PeerMemory(
        name=file.stem,
        text=text.getvalue(),
        period_ps=period_ps,
        burst_clocks=burst,
        line_bytes=line,
        size=size * counts["channel"],
        settings={
            "dram": {
                "shape": {**{f"{name}s": count for name, count in counts.items()}, "burst_bytes": line},
                "map": _masks(order, counts, line),
                "timings": {
                    "period_fs": round(period_ps * 1000),
                    "burst": burst,
                    "turnaround": switch,
                    "rank_switch": switch,
                    **{_ours(name): max(n, burst if "CCD" in name else 0) for name, n in clocks.items()},
                },
                "how": {"read_queue": QUEUE, "write_queue": QUEUE, "write_high": QUEUE, "write_low": 0},
            }
        },
    )


def _ours(name: str) -> str:
    return name.lower() if name in ("CL", "CWL") else name.removeprefix("t").lower()


def _masks(order: str, counts: dict[str, int], line: int) -> dict[str, list[int]]:
    """`order` names the fields in two letters each, the highest address bits first."""
    place = line.bit_length() - 1
    found: dict[str, list[int]] = {}
    for at in range(len(order) - 2, -1, -2):
        name = _PARTS.get(order[at : at + 2])
        if name is None:
            raise PeerFailed(f"unknown field '{order[at : at + 2]}' in address_mapping '{order}'")
        bits = counts[name].bit_length() - 1
        found[name] = [1 << (place + bit) for bit in range(bits)]
        place += bits
    return found


def requests_of(mix: Mix, memory: PeerMemory, clocks: int) -> list[PeerRequest]:
    """More requests than can be served in `clocks`, if the mix saturates."""
    random_ = random.Random(SEED)  # noqa: S311
    between = max(1.0, memory.burst_clocks / mix.share)
    addresses = mix.addresses(random_, memory)
    return [
        PeerRequest(int(i * between), next(addresses), mix.one_write_in > 0 and i % mix.one_write_in == 0)
        for i in range(int(clocks / between))
    ]


def ours(memory: PeerMemory, requests: list[PeerRequest], clocks: int) -> Found:
    taken, read, written = dram_alone(
        json.dumps(memory.settings),
        [(round(one.clock * memory.period_ps), one.address, int(one.write)) for one in requests],
        round(clocks * memory.period_ps),
    )
    times = [ps for ps in taken if ps]
    seconds = clocks * memory.period_ps * 1e-12
    return Found((read + written) / seconds, fmean(times) / memory.period_ps if times else 0)


def theirs(binary: Path, memory: PeerMemory, requests: list[PeerRequest], clocks: int) -> Found:
    """Runs the peer. Raises PeerFailed."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        trace, configuration = directory / "requests.trc", directory / f"{memory.name}.ini"
        lines = (f"{one.address:#x} {'WRITE' if one.write else 'READ'} {one.clock}\n" for one in requests)
        trace.write_text("".join(lines))
        configuration.write_text(memory.text)
        command = [binary, configuration, "-c", clocks, "-t", trace, "-o", directory]
        try:
            subprocess.run([*map(str, command)], check=True, capture_output=True, text=True, timeout=600)
            channels = json.loads((directory / "dramsim3.json").read_text()).values()
            reads = sum(one["num_reads_done"] for one in channels)
            moved = reads + sum(one["num_writes_done"] for one in channels)
            waited = sum(one["num_reads_done"] * one["average_read_latency"] for one in channels)
        except subprocess.CalledProcessError as error:
            raise PeerFailed(f"{binary} ended with {error.returncode}: {error.stderr.strip()}") from error
        except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
            raise PeerFailed(f"{binary}: {error}") from error
    seconds = clocks * memory.period_ps * 1e-12
    return Found(moved * memory.line_bytes / seconds, waited / reads if reads else 0)


def compared(binary: Path, files: Sequence[Path], update: Update) -> list[PeerBeside]:
    """All mixes with all configuration files. Raises PeerFailed."""
    found = []
    for number, file in enumerate(files):
        memory = memory_of(file)
        for index, mix in enumerate(MIXES):
            update((number + index / len(MIXES)) / len(files), f"{memory.name}: {mix.name}")
            requests = requests_of(mix, memory, CLOCKS)
            try:
                own = ours(memory, requests, CLOCKS)
            except ValueError as error:
                raise PeerFailed(f"{file}: {error}") from error
            peer = theirs(binary, memory, requests, CLOCKS)
            found.append(PeerBeside(memory.name, mix, memory.peak_bytes_per_s, own, peer))
    return found
