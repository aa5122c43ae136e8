# SPDX-License-Identifier: Apache-2.0
"""The platform file: what a board is, as shared by the planner, the builder and the simulated machine.

load.py fills these from YAML; platform-wide questions (which cache is the last level, which windows
devices take) are answered here. Every section can carry the source of its numbers.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, WithJsonSchema, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from bulkhead.config.armv7 import ExceptionCosts, Nvic, Peripheral
from bulkhead.config.base import Count, FormatVersion, Model, Name, Nullable, Text
from bulkhead.config.devices import Device, Dma, IntId, Iommu
from bulkhead.config.flow_costs import FlowCosts, FlowPath, MemoryBudget
from bulkhead.config.microkernel import Microkernel
from bulkhead.config.mpam import Mpam
from bulkhead.config.quantity import Address, Bytes, BytesPerS, Hertz, Nanoseconds, described, problem
from bulkhead.config.timing import (
    Controller,
    Costs,
    Cycles,
    DramTiming,
    Fact,
    Interconnect,
    Maintenance,
    Mpu,
    Picoseconds,
    Pipeline,
    Prefetcher,
    Section,
    Sourced,
    Tlb,
)
from bulkhead.geometry import CacheShape

PowerOfTwo = Annotated[int, Field(gt=0, le=1 << 20)]
CacheName = Literal["l1i", "l1d", "l2", "l3"]


def _bits(value: object) -> object:
    """One entry of a DRAM mapping: an address bit, or a list of bits that are XORed."""
    whole = value if isinstance(value, tuple) else (value,)
    if not whole or not all(isinstance(bit, int) and not isinstance(bit, bool) for bit in whole):
        raise problem(
            "wrong-type", f"is {described(value)}", "an address bit, or a list of address bits (a hash)"
        )
    if not all(0 <= bit < 48 for bit in whole):
        raise problem("out-of-range", f"address bit {value} is out of range", "0 to 47")
    return value


AddressBits = Annotated[
    Any,
    BeforeValidator(_bits),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}),
]


class Range(Section):
    at: Address
    size: Bytes

    @property
    def end(self) -> int:
        return self.at + self.size


class OnChipMemory(Range):
    """SRAM beside the DRAM. The hypervisor takes what it needs from the beginning of `free`."""

    free: Bytes | None = None  # from `at` on, that the board's firmware leaves alone; None: all of it
    latency: Picoseconds | None = None  # its own [that of the last shared cache]
    cached: bool = False  # mapped as Normal memory it is in the caches, and lies behind the interconnect
    beside_levels: bool = False  # or beside the shared caches: private ones alone have it

    @property
    def free_bytes(self) -> int:
        return self.size if self.free is None else self.free


EventName = Literal[
    "INST_RETIRED",
    "MEM_ACCESS",
    "L2D_CACHE",
    "L2D_CACHE_REFILL",
    "L2D_CACHE_WB",
    "L3D_CACHE_REFILL",
    "L3D_CACHE_WB",
    "BUS_ACCESS",
    "EXT_MEM_REQ_NC",
]


class StandIn(Section):
    """What the emulator counts instead of memory traffic, which it does not know."""

    name: EventName
    backup: Annotated[int, Field(ge=0, le=1024)] = 0  # events later, a second counter overflows; 0: none


class Emulator(Section):
    machine: Text
    cpu: Annotated[Text | None, Nullable, WithJsonSchema({"type": ["string", "null"]})] = None
    event: StandIn | None = None


class Cores(Section):
    count: Annotated[int, Field(ge=1, le=64)]
    type: Text
    frequency: Hertz | None = None
    mpidr: tuple[Count, ...] | None = None  # affinity fields of each core [0, 1, 2, ...]
    pipeline: Pipeline | None = None
    prefetcher: Prefetcher | None = None
    tlb: Tlb | None = None
    mpu: Mpu | None = None
    exceptions: ExceptionCosts | None = None  # Armv7-M
    nvic: Nvic | None = None  # Armv7-M
    # Each of them has FEAT_S2FWB: the hypervisor says what guests' memory is cached as, whatever they map.
    s2fwb: bool = False


class InterruptController(Section):
    type: Literal["gicv2", "gicv3"]
    distributor: Address
    redistributors: Address | None = None  # gicv3
    redistributors_size: Bytes | None = (
        None  # of all cores that the chip has; None: the most that there can be
    )
    messages: Range | None = None  # registers that make interrupts of writes: ITS, or v2m frame
    cpu_interface: Address | None = None  # gicv2, and the two below
    hypervisor: Address | None = None
    virtual_cpu: Address | None = None


class Uart(Section):
    type: Literal["pl011", "cadence"]
    at: Address
    interrupt: IntId
    clock: Hertz | None = None


class Socket(Section):
    """Where guests see their socket device, which is emulated: nothing of the board is there."""

    at: Address
    interrupt: IntId


class Timers(Section):
    """INTIDs of the architected private interrupts."""

    hypervisor: IntId = 26
    virtual: IntId = 27
    physical: IntId = 30
    maintenance: IntId = 25
    frequency: Hertz = 62_500_000  # of the counter; what the emulator has unless it is told otherwise


class TrafficEvent(Section):
    name: EventName
    bytes: Bytes
    counted_at: Text


class AccessEvent(Section):
    """What accesses past the caches cause, too: those of memory that a guest maps Non-cacheable or Device."""

    name: Literal["BUS_ACCESS", "MEM_ACCESS", "EXT_MEM_REQ_NC"]
    bytes: Bytes  # that the memory moves for one of them, at most
    counted_at: Text

    @property
    def counts_lines(self) -> bool:
        """Every line that a cache asks for or gives up is at least one of them."""
        return self.name == "BUS_ACCESS"


class Pmu(Section):
    counters: Annotated[int, Field(ge=0, le=31)]
    interrupts: tuple[IntId, ...] = ()  # one private one, or one per core; none: not connected
    traffic_event: TrafficEvent | None = None  # lines fetched
    writeback_event: TrafficEvent | None = None  # lines written, of as many bytes
    access_event: AccessEvent | None = None  # past the caches, and perhaps others


class Snooped(Section):
    """How long a cluster takes to answer the interconnect, which asks it for a line."""

    hit: Cycles  # the last shared cache has it
    above: Cycles  # a private cache of one of the cores has it
    miss: Cycles  # it is not there


class Cache(Section):
    size: Bytes
    ways: Annotated[int, Field(ge=1, le=1024)]
    line: PowerOfTwo
    shared_by: tuple[Count, ...] = ()  # none: each core has one of its own
    clusters: tuple[tuple[Count, ...], ...] = ()  # instead: one such cache for each list of cores
    latency: Cycles | None = None  # of a hit, from the core
    occupancy: Cycles | None = None  # of its port, for a lookup, a fill or what the level above gives up
    transfer: Cycles | None = None  # of a line to a core, on that core's read channel
    allocate: Literal["fill", "eviction"] = "fill"  # data enter it when fetched, or when given up above
    snoop: Cycles | None = None  # to have a line out of another core's private cache
    snooped: Snooped | None = None  # of the last one before the interconnect
    outstanding_misses: Annotated[int, Field(ge=1, le=1024)] | None = None
    inclusive: bool | None = None
    lockable_ways: Annotated[int, Field(ge=0, le=64)] = 0
    portions: Annotated[int, Field(ge=0, le=1024)] = 0  # that MPAM can hand out
    replacement: Literal["lru", "random", "plru"] | None = None
    index: Literal["plain", "hashed", "unknown"] = "unknown"
    write_allocate: bool | None = None

    def shape(self) -> CacheShape:
        return CacheShape(self.size, self.ways, self.line, self.index)


class Mapping(Section):
    """Which address bits choose what, the lowest first; bits of a column count bursts, not bytes."""

    row: tuple[AddressBits, ...] = ()
    bank: tuple[AddressBits, ...] = ()
    bank_group: tuple[AddressBits, ...] = ()
    rank: tuple[AddressBits, ...] = ()
    channel: tuple[AddressBits, ...] = ()
    column: tuple[AddressBits, ...] = ()
    order: Literal["row-bank-column"] | None = None  # where the bits are not known: what the machine takes

    def fields(self) -> dict[str, tuple[Any, ...]]:
        names = ("channel", "rank", "bank_group", "bank", "row", "column")
        return {name: getattr(self, name) for name in names}


RegisterOffset = Annotated[int, Field(ge=0, le=0xFFC, multiple_of=4)]


class UtilizationCounters(Section):
    """Profiling counters of the memory controller: 32-bit registers in a page, at these offsets."""

    at: Address
    busy: RegisterOffset  # cycles in which something was to be done
    cycles: RegisterOffset  # all of them
    width: Annotated[int, Field(ge=16, le=32)] = 32  # bits of a counter
    control: RegisterOffset
    clear: Annotated[int, Field(ge=0, le=(1 << 32) - 1)]  # written to `control` first
    enable: Annotated[int, Field(ge=0, le=(1 << 32) - 1)]  # and then this
    simulated: bool = False  # only the simulated machine has them


class Delays(Sourced):
    """By how much a line that one core reads waits longer while others write all that they can."""

    apart: Nanoseconds  # while cores write that share no cache with it
    cluster: Nanoseconds | None = None  # while a core writes that shares its last level [apart]
    least: BytesPerS  # what each of them moves then, at least
    source: Text


class Dram(Section):
    standard: Text
    speed: Annotated[int, Field(gt=0, le=100_000)]  # MT/s
    channels: Annotated[int, Field(ge=1, le=64)] = 1
    ranks: Annotated[int, Field(ge=1, le=64)] = 1
    bank_groups: Annotated[int, Field(ge=1, le=64)] = 1
    banks: Annotated[int, Field(ge=1, le=64)]  # per bank group
    width: Annotated[int, Field(ge=1, le=1024)]  # bits
    burst: Annotated[int, Field(ge=1, le=64)] | None = None  # beats of one access [8]
    page: Bytes | None = None  # one row of one bank, over the whole width
    rows: Annotated[int, Field(ge=1, le=1 << 24)] | None = None  # of a bank
    timing: DramTiming | None = None
    controller: Controller = Controller()
    mapping: Mapping = Mapping()
    utilization: UtilizationCounters | None = None
    guaranteed: BytesPerS | None = None  # what it moves whatever is asked of it: its worst case
    delays: Delays | None = None  # for the regulator `dynamic-delay`


def _none(value: object) -> object:
    return None if value == () else value


class _OrEmptyList:
    """In the JSON Schema: an empty list stands for none, too, as in files of before there were components."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [handler(schema), {"type": "array", "maxItems": 0}]}


class ReleaseDelay(Sourced):
    """From the event that makes a VCPU the most urgent one of a shared core to its first instruction."""

    bound: Nanoseconds
    source: Text


class Platform(Model):
    platform: FormatVersion
    name: Name
    extends: Name | None = None  # the platform whose keys hold where this one has none of its own
    parts: tuple[Name, ...] = ()  # files of platforms/parts, whose keys stand beneath its own
    description: Text
    emulator: Emulator | None = None
    cores: Cores
    memory: tuple[Range, ...] = Field(min_length=1)
    load: Range | None = None  # where the boot package is loaded
    reserved: tuple[Range, ...] = ()  # memory that nobody gets
    ocm: OnChipMemory | None = None
    microkernel: Microkernel | None = None  # where components are; none: it does not run here
    not_bootable: Text | None = None  # why the hypervisor cannot run here: it is described for its memory
    interrupt_controller: InterruptController | None = None
    uart: Uart | None = None
    socket: Socket | None = None
    timers: Timers = Timers()
    psci: Literal["smc", "none"] = "smc"
    pmu: Pmu | None = None
    caches: dict[CacheName, Cache]
    dram: Dram | None = None
    devices: tuple[Device, ...] = ()
    peripherals: tuple[Peripheral, ...] = ()  # of boards that run the microkernel
    dma: tuple[Dma, ...] = ()
    iommus: tuple[Iommu, ...] = ()  # none of them is driven by this version: bulkhead.config.masters
    mpam: Annotated[Mpam | None, BeforeValidator(_none), _OrEmptyList()] = None
    overheads: dict[str, Any] = {}
    release_delay: ReleaseDelay | None = None
    flow_model: FlowPath = "single-thread"  # how packets go, whose parts `flow_costs` has
    flow_costs: FlowCosts | None = None
    memory_budget: MemoryBudget | None = None
    interconnect: Interconnect | None = None
    costs: Costs = Costs()
    maintenance: Maintenance | None = None
    calibration: tuple[Fact, ...] = ()
    sources: dict[str, Text] = {}

    @model_validator(mode="after")
    def _costs_of_the_path(self) -> Self:
        if self.flow_costs is not None:
            object.__setattr__(self, "flow_costs", self.flow_costs.on_path(self.flow_model))
        return self

    @property
    def board(self) -> str:
        """The platform whose hypervisor it boots."""
        return self.extends or self.name

    @property
    def llc(self) -> Cache | None:
        """The last-level cache: the highest level below memory."""
        return self.caches.get("l3") or self.caches.get("l2")

    @property
    def llc_name(self) -> CacheName | None:
        return "l3" if "l3" in self.caches else "l2" if "l2" in self.caches else None

    @property
    def l1d(self) -> Cache | None:
        return self.caches.get("l1d")

    def mpidrs(self) -> tuple[int, ...]:
        return self.cores.mpidr if self.cores.mpidr is not None else tuple(range(self.cores.count))

    def pmu_interrupt(self, core: int) -> int:
        """INTID of a core's performance monitors: one private number for all, or a line each; 0: none."""
        lines = self.pmu.interrupts if self.pmu is not None else ()
        return lines[0] if len(lines) == 1 else lines[core] if lines else 0

    def passable(self) -> dict[str, Device | Dma]:
        """Devices that a domain can be given, by name."""
        found: dict[str, Device | Dma] = {device.name: device for device in self.devices}
        return found | {device.name: device for device in self.dma}

    def registers(self) -> tuple[Device | Dma | Iommu, ...]:
        """Everything that the file names with registers of its own, also what no domain can be given."""
        return (*self.devices, *self.dma, *self.iommus)
