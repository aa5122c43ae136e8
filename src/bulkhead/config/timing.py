# SPDX-License-Identifier: Apache-2.0
"""What a platform file says about time: cores, translation, interconnect, DRAM, costs of hypervisor code.

platform.py puts these sections in their places; machine/settings.py turns them into the settings of the
simulated machine. Latencies of a core and its caches are in core cycles, everything else in picoseconds.
Nothing here is needed to boot a board, so every section can be left out.
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
Keys = tuple[Text, ...] | Literal["all"]  # of a section
MARKS = ("source", "fitted", "assumed", "from_machine", "absorbs")  # what sections say of their other keys

Cycles = Annotated[int, Field(ge=0, le=100_000)]
Picoseconds = Annotated[
    int,
    BeforeValidator(whole(PICOSECOND_UNITS, "12.5 ns", "ps", 0, 10**12)),
    quantity_schema("12.5 ns"),
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
    """As data sheets have it: `4` clocks, `13.75 ns`, `[4, 7.5 ns]` for the greater of them."""
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
    """A checked DramTime in whole clocks, rounded up as data sheets ask for."""
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
    """A part of a platform file, with where its numbers come from."""

    source: Text | None = None
    fitted: tuple[Text, ...] = ()  # keys that calibration set
    from_machine: Keys = ()  # keys whose values are the simulated machine's own: no measurement of a board

    def is_from_machine(self, key: str) -> bool:
        return key in self.from_machine or self.from_machine == ALL


class Section(Sourced):
    """The same, with which of its numbers nobody has measured or published."""

    assumed: Keys = ()
    absorbs: Text | None = None  # what the machine lacks and the fitted keys make up for

    @model_validator(mode="after")
    def _marked(self) -> Self:
        for mark in (self.fitted, self.assumed, self.from_machine):
            for key in mark if mark != ALL else ():
                if key not in self.model_fields_set:
                    raise problem("unknown-name", f"{quoted(key)} is marked, but has no value here")
        if self.absorbs is not None and not self.fitted:
            raise problem("conflict", "says what fitted keys absorb, and names none as `fitted`")
        return self


class WriteStreaming(Section):
    """Lines that are written whole before their fills arrive stop being fetched. 0 lines: never."""

    lines: Annotated[int, Field(ge=0, le=1 << 20)]  # after so many in a row, they go past the private caches
    shared_lines: Annotated[int, Field(ge=0, le=1 << 20)] = 0  # after so many, past the shared ones too


class Pipeline(Section):
    width: Annotated[int, Field(ge=1, le=16)] = 1  # instructions a cycle at most
    cycles_per_instruction: Ratio  # on average, loads and stores that hit the L1 cache included
    load_use: Cycles = 0  # of a hit in the L1 cache, for a load whose result is the next address
    # Of one instruction that accesses several, where machine code runs; 0: any number
    words_per_cycle: Annotated[int, Field(ge=0, le=16)] = 0
    outstanding_misses: Annotated[int, Field(ge=1, le=64)]  # loads under way when it waits for the oldest
    window: Annotated[int, Field(ge=0, le=1024)] = (
        0  # instructions executed beyond a missed load; 0: any number
    )
    store_buffer: Annotated[
        int, Field(ge=1, le=64)
    ]  # missed lines whose stores wait without stopping the core
    outstanding_reads: Annotated[int, Field(ge=1, le=64)] | None = None  # lines of any kind; none: any number
    write_streaming: WriteStreaming | None = None


class Prefetcher(Section):
    streams: Annotated[int, Field(ge=1, le=64)] = 1
    confirmations: Annotated[int, Field(ge=0, le=64)] = 1  # misses at the same distance before it starts
    depth: Annotated[int, Field(ge=0, le=64)]  # lines ahead; 0: there is none
    max_stride: Annotated[int, Field(ge=1, le=64)] = 1  # lines
    outstanding: Annotated[int, Field(ge=1, le=64)] | None = None  # lines of all streams; none: any number


class TlbLevel(Section):
    """Any cache of translations."""

    entries: Annotated[int, Field(ge=1, le=1 << 16)]
    ways: Annotated[int, Field(ge=1, le=1 << 16)] | None = None  # none: fully associative
    hit: Cycles = 0  # what a hit costs beside the access
    lockable: Annotated[int, Field(ge=0, le=64)] = 0  # entries beside the others that software can lock
    pages: tuple[Bytes, ...] = ()  # sizes that an entry can have; a larger mapping is cut; none: any


class Tlb(Section):
    l1: TlbLevel  # one for data, one like it for instructions
    l2: TlbLevel | None = None
    ipa: TlbLevel | None = None  # what stage 2 makes of intermediate addresses
    walk_cache: TlbLevel | None = None  # where tables of stage 1's last level are
    walk: Cycles = 0  # of a walk, besides its accesses
    walks: Literal["l1", "l2", "memory"] = "l2"  # the first cache that reads of tables look into
    # What programs of experiments are translated by; hosted software has what the hypervisor writes.
    stages: Annotated[int, Field(ge=1, le=2)] = 2  # 1: the core has no stage 2
    levels: Annotated[int, Field(ge=2, le=4)] = 3  # table reads of a walk of one stage


class Mpu(Section):
    regions: Annotated[int, Field(ge=1, le=64)]
    subregions: Annotated[int, Field(ge=0, le=8)] = 0
    fault: (
        Cycles  # from the access to its repetition, with the region loaded by software: published or assumed
    )
    bound: Cycles | None = None  # of that with the microkernel, as `bench refill-bound` computes it [none]


class Regulator(Section):
    """A QoS-400 regulator in front of one master of the interconnect."""

    master: Text
    clock: Picoseconds  # period of the interconnect's clock
    transaction: Bytes


class Coherence(Section):
    """A coherent interconnect: it asks all clusters but the one that a request comes from."""

    snoop: Picoseconds  # to the clusters and back, without their own time
    speculative: bool = True  # reads go to memory at once, whatever the clusters will answer


class Port(Section):
    """Where cores behind one last cache enter the interconnect: what it moves in each direction at most."""

    width: Bytes  # in each of its clocks
    divider: Annotated[int, Field(ge=1, le=64)]  # of the cores' clock, which gives its own


class Interconnect(Section):
    request: Picoseconds  # from the last cache to the memory controller
    answer: Picoseconds  # and back
    port: Port | None = None  # none: as fast as what is behind it
    writes: Annotated[int, Field(ge=1, le=1024)] = 16  # under way until the controller has taken them
    regulators: tuple[Regulator, ...] = ()
    coherence: Coherence | None = None


class DramTiming(Section):
    """By the names of data sheets. What a standard does not have is left out."""

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
    """Queued reads and writes compete by score, at most 15; machine/dram/arbitration.h says how."""

    row_hit: Annotated[int, Field(ge=0, le=15)]
    direction: Annotated[int, Field(ge=0, le=15)]  # the same as of the last request served
    age: Annotated[int, Field(ge=1, le=15)]  # for each lost arbitration
    most: Annotated[int, Field(ge=0, le=15)]  # by age
    guard: Annotated[int, Field(ge=0, le=255)]  # lost arbitrations beyond those, then a request goes first


class Stores(Section):
    """Reads and writes wait in a store each and take turns; machine/dram/transaction_stores.h says how."""

    starve: Annotated[int, Field(ge=1, le=1 << 17)]  # clocks without service, then a store is critical
    run: Annotated[int, Field(ge=1, le=255)]  # requests that a critical store is served in one go
    rest: Annotated[int, Field(ge=0, le=1 << 17)] = 0  # clocks after that before it can be critical again
    idle: Annotated[int, Field(ge=0, le=1 << 17)] = 0  # clocks without reads before writes use the time


WATERMARKS = ("write_high", "write_low")  # what has no effect when a controller has transaction stores,
BY_TURNS = (*WATERMARKS, "cap", "age_limit")  # and when it goes by score


class Controller(Section):
    read_queue: Annotated[int, Field(ge=1, le=1024)] = 32
    write_queue: Annotated[int, Field(ge=1, le=1024)] = 32
    write_high: Annotated[int, Field(ge=1, le=1024)] = 24
    write_low: Annotated[int, Field(ge=0, le=1024)] = 8
    cap: Annotated[int, Field(ge=1, le=1 << 20)] = 16
    # clocks; the oldest request of the direction that has its turn goes first once it is as old as this
    age_limit: Annotated[int, Field(ge=1, le=1 << 20)] = 1024
    page: Literal["open", "closed"] = "open"
    stores: Stores | None = None  # instead of watermarks
    arbitration: Arbitration | None = None  # instead of watermarks, cap and age limit
    guard: Annotated[int, Field(ge=0, le=256)] = 0  # clocks beyond tRP before another row is opened
    # clocks beyond tCCD between two bursts of one direction: what the controller needs for each
    spacing: Annotated[int, Field(ge=0, le=64)] = 0
    request: Picoseconds = 0  # from the controller's port to its queue
    answer: Picoseconds = 0  # from the last data to the port


class Maintenance(Section):
    """An invalidation of translations or instruction caches that a core broadcasts to all others."""

    stall: Picoseconds  # each other core stands still so long
    wait: Picoseconds  # and the core itself, until its barrier is over
    # What one counts in a budget of memory events, where the hypervisor sends it for a domain: of
    # translations or of a line of instructions, and of all instruction caches.
    events: Annotated[int, Field(ge=0, le=1 << 20)]
    icache_events: Annotated[int, Field(ge=0, le=1 << 20)]


class Costs(Section):
    """Of hypervisor code on the simulated machine, beside its instructions and accesses."""

    entry: Picoseconds | None = None
    exit: Picoseconds | None = None
    interrupt_latency: Picoseconds | None = None  # from its signal to the first instruction of the vector
    event_latency: Picoseconds | None = None  # from SEV to another core's WFE [interrupt_latency]
    barrier: Picoseconds | None = None
    device: Picoseconds | None = None  # an access to a device's register


class Fact(Section):
    """A measured fact that free parameters were fitted to, and what the machine gives with them."""

    fact: Text
    unit: Text
    target: Ratio | None = None  # a point, or
    low: Ratio | None = None  # a range
    high: Ratio | None = None
    measured: Ratio | None = None  # by `bulkhead calibrate`
    parameters: tuple[Text, ...] = ()  # that were free
    compared: bool = False  # only compared with: nothing was fitted to it
    # Another fact of which this one is the same by arithmetic (or was made to be): it confirms nothing.
    follows: Text | None = None

    @property
    def fits(self) -> bool:
        """Are parameters fitted to it? One that follows another would count that one twice."""
        return not self.compared and self.follows is None
