# SPDX-License-Identifier: Apache-2.0
"""The platform file: the description of a board for the planner, the builder and the simulated machine.

validate.py fills these models from YAML. Questions about the whole platform (the last-level cache, windows of
devices) are answered here. Every section can state the source of its numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from bulkhead.config.armv7 import ExceptionCosts, Nvic, Peripheral
from bulkhead.config.base import Count, FormatVersion, Model, Name, Nullable, Text
from bulkhead.config.devices import Device, Dma, IntId, Iommu
from bulkhead.config.flow_costs import (
    FlowCosts,
    FlowPath,
    IsolatedFlowCosts,
    MemoryBudget,
)
from bulkhead.config.microkernel import Microkernel
from bulkhead.config.mpam import Mpam
from bulkhead.config.pci import PciHost
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

LONGEST_DELAY_NS = 4_000_000  # the manifest has delays in ps, in 32 bits


def _short_delay(delay_ns: int) -> int:
    if delay_ns > LONGEST_DELAY_NS:
        raise problem("out-of-range", f"is {delay_ns} ns, longer than 4 ms", "1 ns to 4 ms")
    return delay_ns


Delay = Annotated[Nanoseconds, AfterValidator(_short_delay)]


def _bits(value: object) -> object:
    """Checks one entry of a DRAM mapping: an address bit, or a list of bits that are XORed."""
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
    """SRAM besides the DRAM. The hypervisor uses the beginning of its `free` bytes."""

    free: Bytes | None = None  # bytes from `at` on that the board's firmware does not use; None: all
    latency: Picoseconds | None = None  # its own latency [that of the last shared cache]
    cached: bool = False  # as Normal memory it is cached, and lies behind the interconnect
    beside_levels: bool = False  # private caches cache it, shared ones do not

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
    """The event that the emulator counts in place of memory traffic, which it does not model."""

    name: EventName
    backup: Annotated[int, Field(ge=0, le=1024)] = 0  # events until a second counter overflows; 0: none
    bytes: Bytes | None = None  # bytes that an event stands for; None: budgets in bytes are not counted


class Emulator(Section):
    machine: Text
    cpu: Annotated[Text | None, Nullable, WithJsonSchema({"type": ["string", "null"]})] = None
    event: StandIn | None = None
    options: tuple[Text, ...] = ()  # further arguments of the emulator's command line
    wires: dict[Text, Text] = {}  # QOM paths: output of a device to the input that its model leaves open


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
    # All cores have FEAT_S2FWB: stage 2 decides how guests' memory is cached, whatever stage 1 says.
    s2fwb: bool = False


class Its(Section):
    """An interrupt translation service that the hypervisor drives."""

    at: Address
    pending: Address  # memory for the redistributors' tables of pending message interrupts


class InterruptController(Section):
    type: Literal["gicv2", "gicv3"]
    distributor: Address
    redistributors: Address | None = None  # gicv3
    redistributors_size: Bytes | None = None  # of all cores of the chip; None: the largest possible
    messages: Range | None = None  # registers that turn writes into interrupts, and that nobody uses
    its: Its | None = None  # in place of `messages`; gicv3
    cpu_interface: Address | None = None  # gicv2; also the two below
    hypervisor: Address | None = None
    virtual_cpu: Address | None = None


class Uart(Section):
    type: Literal["pl011", "cadence", "imx"]
    at: Address
    interrupt: IntId
    clock: Hertz | None = None


class Socket(Section):
    """Guest addresses and interrupt of the emulated socket device; the board has nothing at these
    addresses."""

    at: Address
    interrupt: IntId
    root: Address | None = None  # of a virtual PCI root's configuration space, for `socket_transport: pci`


class Timers(Section):
    """INTIDs of the architected private interrupts of the timers and the interrupt controller."""

    hypervisor: IntId = 26
    virtual: IntId = 27
    physical: IntId = 30
    maintenance: IntId = 25
    frequency: Hertz = 62_500_000  # of the counter; the default is QEMU's default


class TrafficEvent(Section):
    name: EventName
    bytes: Bytes
    counted_at: Text


class AccessEvent(Section):
    """The event for accesses past the caches: those to memory that a guest maps Non-cacheable or Device."""

    name: Literal["BUS_ACCESS", "MEM_ACCESS", "EXT_MEM_REQ_NC"]
    bytes: Bytes  # most bytes that the memory moves for one event
    counted_at: Text

    @property
    def counts_lines(self) -> bool:
        """Whether the event also counts each line that a cache fetches or writes back, at least once."""
        return self.name == "BUS_ACCESS"


class Pmu(Section):
    counters: Annotated[int, Field(ge=0, le=31)]
    interrupts: tuple[IntId, ...] = ()  # one private interrupt, or one for each core; none: not connected
    traffic_event: TrafficEvent | None = None  # lines fetched
    writeback_event: TrafficEvent | None = None  # lines written, each with as many bytes
    access_event: AccessEvent | None = None  # accesses past the caches, and perhaps others


class Snooped(Section):
    """Time that a cluster takes to answer a snoop request of the interconnect for a line."""

    hit: Cycles  # the last shared cache has the line
    above: Cycles  # a private cache of one of the cores has the line
    miss: Cycles  # the cluster does not have the line


class Cache(Section):
    size: Bytes
    ways: Annotated[int, Field(ge=1, le=1024)]
    line: PowerOfTwo
    shared_by: tuple[Count, ...] = ()  # cores that share it; none: each core has its own
    clusters: tuple[tuple[Count, ...], ...] = ()  # instead: one such cache for each list of cores
    latency: Cycles | None = None  # of a hit, from the core
    occupancy: Cycles | None = None  # of its port, by a lookup, a fill or an eviction from above
    transfer: Cycles | None = None  # of a line to a core, on that core's read channel
    allocate: Literal["fill", "eviction"] = "fill"  # data enter when fetched, or when evicted above
    snoop: Cycles | None = None  # to get a line from another core's private cache
    snooped: Snooped | None = None  # of the last cache before the interconnect
    outstanding_misses: Annotated[int, Field(ge=1, le=1024)] | None = None
    inclusive: bool | None = None
    lockable_ways: Annotated[int, Field(ge=0, le=64)] = 0
    portions: Annotated[int, Field(ge=0, le=1024)] = 0  # for MPAM
    replacement: Literal["lru", "random", "plru"] | None = None
    index: Literal["plain", "hashed", "unknown"] = "unknown"
    write_allocate: bool | None = None

    def shape(self) -> CacheShape:
        return CacheShape(self.size, self.ways, self.line, self.index)


class Mapping(Section):
    """Address bits of each field, the lowest first. Column bits count bursts, not bytes."""

    row: tuple[AddressBits, ...] = ()
    bank: tuple[AddressBits, ...] = ()
    bank_group: tuple[AddressBits, ...] = ()
    rank: tuple[AddressBits, ...] = ()
    channel: tuple[AddressBits, ...] = ()
    column: tuple[AddressBits, ...] = ()
    order: Literal["row-bank-column"] | None = None  # assumed by the machine if the bits are not known

    def fields(self) -> dict[str, tuple[Any, ...]]:
        names = ("channel", "rank", "bank_group", "bank", "row", "column")
        return {name: getattr(self, name) for name in names}


RegisterOffset = Annotated[int, Field(ge=0, le=0xFFC, multiple_of=4)]


class UtilizationCounters(Section):
    """Profiling counters of the memory controller: 32-bit registers of one page, at these offsets."""

    at: Address
    busy: RegisterOffset  # counts cycles with work to do
    cycles: RegisterOffset  # counts all cycles
    width: Annotated[int, Field(ge=16, le=32)] = 32  # bits of a counter
    control: RegisterOffset
    clear: Annotated[int, Field(ge=0, le=(1 << 32) - 1)]  # value written to `control` first
    enable: Annotated[int, Field(ge=0, le=(1 << 32) - 1)]  # value written to `control` next
    simulated: bool = False  # only the simulated machine has them


class Delays(Sourced):
    """How much longer one core's read of a line takes while other cores write as fast as they can."""

    apart: Delay  # writers share no cache with the reader
    cluster: Delay | None = None  # a writer shares the reader's last-level cache [apart]
    least: BytesPerS  # rate that each writer reaches at least in that time
    source: Text


class Dram(Section):
    standard: Text
    speed: Annotated[int, Field(ge=10, le=100_000)]  # MT/s; the slowest standard, SDR, begins at 66
    channels: Annotated[int, Field(ge=1, le=64)] = 1
    ranks: Annotated[int, Field(ge=1, le=64)] = 1
    bank_groups: Annotated[int, Field(ge=1, le=64)] = 1
    banks: Annotated[int, Field(ge=1, le=64)]  # per bank group
    width: Annotated[int, Field(ge=8, le=1024)]  # bits of a channel, whole bytes
    burst: Annotated[int, Field(ge=1, le=64)] | None = None  # beats of one access [8]
    page: Bytes | None = None  # bytes of a row of one bank, over the whole width
    rows: Annotated[int, Field(ge=1, le=1 << 24)] | None = None  # of a bank
    timing: DramTiming | None = None
    controller: Controller = Controller()
    mapping: Mapping = Mapping()
    utilization: UtilizationCounters | None = None
    guaranteed: BytesPerS | None = None  # the rate that it serves in the worst case, for any access pattern
    delays: Delays | None = None  # for the regulator `dynamic-delay`


def _none(value: object) -> object:
    return None if value == () else value


class _OrEmptyList:
    """For the JSON Schema: `mpam` and `emulator` may also be an empty list, in a file that does not take over
    what it extends, or is from before MPAM components existed."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [handler(schema), {"type": "array", "maxItems": 0}]}


class ReleaseDelay(Sourced):
    """Time from the event that makes a VCPU the most urgent of a shared core until its first instruction."""

    bound: Nanoseconds
    source: Text


class Platform(Model):
    platform: FormatVersion
    name: Name
    extends: Name | None = None  # another platform, whose keys apply if this file does not have them
    hypervisor: Name | None = None  # platform whose hypervisor it boots; None: `extends`, or itself
    parts: tuple[Name, ...] = ()  # files of platforms/parts, whose keys apply if this file does not have them
    description: Text
    emulator: Annotated[Emulator | None, BeforeValidator(_none), _OrEmptyList()] = None
    cores: Cores
    memory: tuple[Range, ...] = Field(min_length=1)
    load: Range | None = None  # where the boot package is loaded
    reserved: tuple[Range, ...] = ()  # memory that is never used
    ocm: OnChipMemory | None = None
    microkernel: Microkernel | None = None  # places of components; none: the microkernel does not run here
    not_bootable: Text | None = None  # why the hypervisor cannot run here (only its memory is described)
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
    iommus: tuple[Iommu, ...] = ()  # at most one of them is driven: bulkhead.admission.masters
    pci: PciHost | None = None  # the host bridge whose functions can be given to domains
    mpam: Annotated[Mpam | None, BeforeValidator(_none), _OrEmptyList()] = None
    overheads: dict[str, Any] = {}
    release_delay: ReleaseDelay | None = None
    flow_model: FlowPath = "single-thread"  # path of packets whose parts `flow_costs` has
    flow_costs: FlowCosts | None = None
    flow_costs_isolated: IsolatedFlowCosts | None = None  # shorter ones: planning/flow_costs.py says when
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
        if self.flow_costs_isolated is not None:
            if self.flow_costs is None:
                cause = "there are costs of isolated systems, and none of others"
                raise problem("missing-key", cause, "`flow_costs`")
            isolated = self.flow_costs_isolated.on_path(self.flow_model)
            object.__setattr__(self, "flow_costs_isolated", isolated)
        return self

    @property
    def board(self) -> str:
        """Name of the platform whose hypervisor image it boots."""
        return self.hypervisor or self.extends or self.name

    @property
    def llc(self) -> Cache | None:
        """The last-level cache: the one closest to memory."""
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
        """INTID of a core's performance monitors: one private interrupt for all cores, or one for each; 0:
        none."""
        lines = self.pmu.interrupts if self.pmu is not None else ()
        return lines[0] if len(lines) == 1 else lines[core] if lines else 0

    @property
    def driven_iommu(self) -> Iommu | None:
        """The IOMMU that the hypervisor drives."""
        return next((iommu for iommu in self.iommus if iommu.driven), None)

    def confines(self, device: Device | Dma) -> bool:
        """Whether the hypervisor drives the IOMMU that all accesses of the device pass."""
        driven = self.driven_iommu
        return driven is not None and device.iommu == driven.name and bool(device.streams)

    def confined(self, names: Iterable[str]) -> list[Device | Dma]:
        """Those of the named devices that an IOMMU confines to the memory of their domain."""
        known = self.passable()
        return [known[name] for name in names if name in known and self.confines(known[name])]

    def passable(self) -> dict[str, Device | Dma]:
        """Devices that can be given to a domain, by name."""
        found: dict[str, Device | Dma] = {device.name: device for device in self.devices}
        found |= {device.name: device for device in self.dma}
        return found if self.pci is None else found | {device.name: device for device in self.pci.devices()}

    def registers(self) -> tuple[Device | Dma | Iommu, ...]:
        """All devices with registers in the file, including those that can be given to no domain."""
        return (*self.devices, *self.dma, *self.iommus)
