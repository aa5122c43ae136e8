# SPDX-License-Identifier: Apache-2.0
"""Sections of a platform file about time: cores, translation, interconnect, DRAM, costs of hypervisor code.

platform.py holds these sections; machine/settings.py turns them into settings of the simulated machine.
Latencies of a core and its caches are in core cycles, all others in picoseconds. No section is needed to boot
a board, so every one may be left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from bulkhead.config.base import Model, Text
from bulkhead.config.problem import quoted
from bulkhead.config.quantity import Bytes, described, parse, problem, quantity_schema, whole

PICOSECOND_UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9}
MAX_CLOCKS = 1 << 13

ALL = "all"
Keys = tuple[Text, ...] | Literal["all"]  # keys of a section
MARKS = ("source", "fitted", "assumed", "from_machine", "absorbs")  # keys of a section about its other keys

Cycles = Annotated[int, Field(ge=0, le=100_000)]
Picoseconds = Annotated[
    int,
    BeforeValidator(whole(PICOSECOND_UNITS, "12.5 ns", "ps", 0, 10**12)),
    quantity_schema("12.5 ns", PICOSECOND_UNITS),
]


def _ratio(value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, Decimal, Fraction)):
        raise problem("wrong-type", f"is {described(value)}, not a number", "a number, as 0.65")
    amount = Fraction(value)
    if not 0 < amount <= 10**6:
        raise problem("out-of-range", f"{quoted(str(value))} is out of range", "more than 0, up to 1000000")
    return amount


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


Ratio = Annotated[
    Fraction,
    BeforeValidator(_ratio),
    PlainSerializer(_number),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
]

_DRAM_TIME = "clocks, a time as `13.75 ns`, or a list of both (the greater of them)"


def _dram_time(value: object) -> object:
    """A time as in data sheets: `4` clocks, `13.75 ns`, or `[4, 7.5 ns]` for the greater of both."""
    for item in value if isinstance(value, (tuple, list)) and value else (value,):
        if isinstance(item, int) and not isinstance(item, bool):
            if not 0 <= item <= MAX_CLOCKS:
                raise problem("out-of-range", f"{item} clocks are out of range", f"0 to {MAX_CLOCKS} clocks")
        elif isinstance(item, str):
            parse(item, PICOSECOND_UNITS, "13.75 ns", bare=False)
        else:
            raise problem("wrong-type", f"is {described(item)}", _DRAM_TIME)
    return tuple(value) if isinstance(value, list) else value


DramTime = Annotated[
    Any,
    BeforeValidator(_dram_time),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer"},
                {"type": "string"},
                {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}},
            ]
        }
    ),
]


def dram_clocks(value: object, period_ps: Fraction) -> int:
    """A checked DramTime in whole clocks, rounded up as data sheets require."""
    items: Iterable[object] = value if isinstance(value, tuple) else (value,)
    clocks = 0
    for item in items:
        if isinstance(item, int):
            clocks = max(clocks, item)
        else:
            amount = parse(item, PICOSECOND_UNITS, "13.75 ns", bare=False)
            clocks = max(clocks, -(-amount // period_ps))
    return int(clocks)


class Sourced(Model):
    """A section of a platform file that states the source of its numbers."""

    source: Text | None = None
    fitted: tuple[Text, ...] = ()  # keys whose values were set by calibration
    from_machine: Keys = ()  # keys whose values come from the simulated machine, not from a board

    def is_from_machine(self, key: str) -> bool:
        return key in self.from_machine or self.from_machine == ALL


class Section(Sourced):
    """A section that also states which of its numbers are assumed: neither measured nor published."""

    assumed: Keys = ()
    absorbs: Text | None = None  # what the machine does not model and the fitted keys compensate

    @model_validator(mode="after")
    def _marked(self) -> Self:
        for mark in (self.fitted, self.assumed, self.from_machine):
            for key in mark if mark != ALL else ():
                if key not in self.model_fields_set:
                    raise problem("unknown-name", f"{quoted(key)} is marked, but has no value here")
        if self.absorbs is not None and not self.fitted:
            raise problem("conflict", "explains fitted keys, but `fitted` lists none")
        return self


class WriteStreaming(Section):
    """After consecutive lines that are written completely before their fills arrive, lines are no longer
    fetched."""

    lines: Annotated[int, Field(ge=0, le=1 << 20)]  # after so many in a row, they bypass the private caches
    shared_lines: Annotated[int, Field(ge=0, le=1 << 20)] = 0  # from then on, the shared ones, too


class Pipeline(Section):
    width: Annotated[int, Field(ge=1, le=16)] = 1  # most instructions in a cycle
    cycles_per_instruction: Ratio  # on average, loads and stores that hit the L1 cache included
    load_use: Cycles = 0  # extra cycles of an L1 hit for a load whose result is the next address
    # Of an instruction that accesses several words, where machine code runs; 0: any number
    words_per_cycle: Annotated[int, Field(ge=0, le=16)] = 0
    outstanding_misses: Annotated[int, Field(ge=1, le=64)]  # loads in flight before it waits for the oldest
    window: Annotated[int, Field(ge=0, le=1024)] = (
        0  # instructions executed beyond a load that missed; 0: any number
    )
    store_buffer: Annotated[
        int, Field(ge=1, le=64)
    ]  # stores to missed lines that wait without stopping the core
    outstanding_reads: Annotated[int, Field(ge=1, le=64)] | None = None  # lines in flight; none: any number
    write_streaming: WriteStreaming | None = None


class Prefetcher(Section):
    streams: Annotated[int, Field(ge=1, le=64)] = 1
    confirmations: Annotated[int, Field(ge=0, le=64)] = 1  # misses at the same distance before it starts
    depth: Annotated[int, Field(ge=0, le=64)]  # lines ahead of the stream; 0: no prefetcher
    max_stride: Annotated[int, Field(ge=1, le=64)] = 1  # lines
    outstanding: Annotated[int, Field(ge=1, le=64)] | None = None  # lines in flight of all streams; none: any


class TlbLevel(Section):
    """Any cache of translations."""

    entries: Annotated[int, Field(ge=1, le=1 << 16)]
    ways: Annotated[int, Field(ge=1, le=1 << 16)] | None = None  # none: fully associative
    hit: Cycles = 0  # cost of a hit, besides the access
    lockable: Annotated[int, Field(ge=0, le=64)] = 0  # additional entries that software can lock
    pages: tuple[Bytes, ...] = ()  # page sizes of entries; a larger mapping is split; none: any size


class Tlb(Section):
    l1: TlbLevel  # one for data, and an equal one for instructions
    l2: TlbLevel | None = None
    ipa: TlbLevel | None = None  # stage-2 translations of intermediate physical addresses
    walk_cache: TlbLevel | None = None  # addresses of stage 1's last-level tables
    walk: Cycles = 0  # of a walk, besides its memory accesses
    walks: Literal["l1", "l2", "memory"] = "l2"  # the first cache that table reads look up
    # Translation for programs of experiments; hosted software uses the tables that the hypervisor writes.
    stages: Annotated[int, Field(ge=1, le=2)] = 2  # 1: the core has no stage 2
    levels: Annotated[int, Field(ge=2, le=4)] = 3  # table reads of a walk of one stage


class IommuTiming(Section):
    """What an IOMMU adds to accesses of a device. The simulated machine translates no master without it."""

    tlb: TlbLevel  # in front of each master
    main: TlbLevel | None = None  # shared with the table walker
    walk_cache: TlbLevel | None = None  # addresses of last-level tables
    hit: Picoseconds = 0  # latency of a hit in `tlb`
    request: Picoseconds  # from a miss in `tlb` to `main` and the walker, and the answer's way back


class Mpu(Section):
    regions: Annotated[int, Field(ge=1, le=64)]
    subregions: Annotated[int, Field(ge=0, le=8)] = 0
    fault: (
        Cycles  # from the access to its repetition, with the region loaded by software: published or assumed
    )
    bound: Cycles | None = None  # bound of `fault` with the microkernel, by `bench refill-bound` [none]


class Regulator(Section):
    """A QoS-400 regulator in front of one master of the interconnect."""

    master: Text
    clock: Picoseconds  # period of the interconnect's clock
    transaction: Bytes


class Coherence(Section):
    """A coherent interconnect, which snoops all clusters except the one that sent the request."""

    snoop: Picoseconds  # to the clusters and back, without the clusters' own time
    speculative: bool = True  # reads go to memory at once, before the clusters have answered


class Port(Section):
    """Interface between the cores behind one last-level cache and the interconnect, with its highest rate."""

    width: Bytes  # bytes in each of the port's clocks, in each direction
    divider: Annotated[int, Field(ge=1, le=64)]  # the port's clock is the cores' clock divided by this


class Interconnect(Section):
    request: Picoseconds  # from the last cache to the memory controller
    answer: Picoseconds  # from the memory controller back
    port: Port | None = None  # none: no limit of its own
    writes: Annotated[int, Field(ge=1, le=1024)] = 16  # in flight until accepted by the controller
    regulators: tuple[Regulator, ...] = ()
    coherence: Coherence | None = None


class DramTiming(Section):
    """Timing under the names of data sheets. Parameters that a standard does not have are left out."""

    cl: DramTime
    cwl: DramTime = 0
    trcd: DramTime
    trp: DramTime
    tras: DramTime
    tccd_s: DramTime = 0
    tccd_l: DramTime = 0
    trrd_s: DramTime = 0
    trrd_l: DramTime = 0
    tfaw: DramTime = 0
    twr: DramTime = 0
    twtr_s: DramTime = 0
    twtr_l: DramTime = 0
    trtp: DramTime = 0
    trefi: DramTime = 0
    trfc: DramTime = 0
    turnaround: DramTime = 0
    rank_switch: DramTime = 0


class Arbitration(Section):
    """Queued reads and writes compete by score (at most 15); see machine/dram/arbitration.h."""

    row_hit: Annotated[int, Field(ge=0, le=15)]
    direction: Annotated[int, Field(ge=0, le=15)]  # for the same direction as the last request served
    age: Annotated[int, Field(ge=1, le=15)]  # for each lost arbitration
    most: Annotated[int, Field(ge=0, le=15)]  # most points by age
    guard: Annotated[int, Field(ge=0, le=255)]  # after so many more lost arbitrations a request goes first


class Stores(Section):
    """Reads and writes wait in one store each, and the stores take turns; see
    machine/dram/transaction_stores.h."""

    starve: Annotated[int, Field(ge=1, le=1 << 17)]  # clocks without service after which a store is critical
    run: Annotated[int, Field(ge=1, le=255)]  # requests of a critical store that are served in a row
    rest: Annotated[int, Field(ge=0, le=1 << 17)] = 0  # clocks from then until it can be critical again
    idle: Annotated[int, Field(ge=0, le=1 << 17)] = 0  # clocks without reads before writes use the idle time


WATERMARKS = ("write_high", "write_low")  # keys without effect if a controller has transaction stores,
BY_TURNS = (*WATERMARKS, "cap", "age_limit")  # and those without effect if it arbitrates by score


class Controller(Section):
    read_queue: Annotated[int, Field(ge=1, le=1024)] = 32
    write_queue: Annotated[int, Field(ge=1, le=1024)] = 32
    write_high: Annotated[int, Field(ge=1, le=1024)] = 24
    write_low: Annotated[int, Field(ge=0, le=1024)] = 8
    cap: Annotated[int, Field(ge=1, le=1 << 20)] = 16
    # in clocks: from this age on, the oldest request of the current direction goes first
    age_limit: Annotated[int, Field(ge=1, le=1 << 20)] = 1024
    page: Literal["open", "closed"] = "open"
    stores: Stores | None = None  # instead of watermarks
    arbitration: Arbitration | None = None  # instead of watermarks, cap and age limit
    guard: Annotated[int, Field(ge=0, le=256)] = 0  # clocks beyond tRP before another row is opened
    # in clocks beyond tCCD between two bursts of one direction: the controller's own time for each burst
    spacing: Annotated[int, Field(ge=0, le=64)] = 0
    request: Picoseconds = 0  # from the controller's port to its queue
    answer: Picoseconds = 0  # from the last data to the controller's port


class Maintenance(Section):
    """Costs of an invalidation of TLBs or instruction caches that a core broadcasts to all others."""

    stall: Picoseconds  # how long each other core stops
    wait: Picoseconds  # how long the core itself waits, until its barrier completes
    # Events that one counts in a memory budget if the hypervisor sends it for a domain: `events` for a
    # translation or a line of instructions, `icache_events` for all instruction caches.
    events: Annotated[int, Field(ge=0, le=1 << 20)]
    icache_events: Annotated[int, Field(ge=0, le=1 << 20)]


class Costs(Section):
    """Costs of hypervisor code on the simulated machine, besides its instructions and accesses."""

    entry: Picoseconds | None = None
    exit: Picoseconds | None = None
    interrupt_latency: Picoseconds | None = None  # from the signal to the first instruction of the vector
    event_latency: Picoseconds | None = None  # from SEV until another core's WFE ends [interrupt_latency]
    barrier: Picoseconds | None = None
    device: Picoseconds | None = None  # duration of an access to a device's register


class Fact(Section):
    """A measured fact that free parameters were fitted to, and the value that the machine gives."""

    fact: Text
    unit: Text
    target: Ratio | None = None  # a single value, or
    low: Ratio | None = None  # a range
    high: Ratio | None = None
    measured: Ratio | None = None  # value of the simulated machine, set by `bulkhead calibrate`
    parameters: tuple[Text, ...] = ()  # parameters that were free in the fit
    compared: bool = False  # only for comparison: no parameter was fitted to it
    # Another fact from which this one follows by arithmetic (or was made to follow): it confirms nothing.
    follows: Text | None = None

    @property
    def fits(self) -> bool:
        """Whether parameters are fitted to it. A fact that follows another is left out, or that one would
        count twice."""
        return not self.compared and self.follows is None
