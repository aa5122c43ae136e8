# SPDX-License-Identifier: Apache-2.0
"""The system file: its domains and what each of them is promised.

validate.py fills these models from YAML and admission/crosscheck.py checks rules that span keys. Field
names are the keys of the file. Defaults of optional keys are defined here only.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, PrivateAttr, WithJsonSchema, model_validator
from pydantic.json_schema import JsonSchemaValue

from bulkhead.config.base import NAME_PATTERN, FormatVersion, Model, Name, ShortModel, Text, WordModel
from bulkhead.config.components import Spec
from bulkhead.config.file_form import exact_decimal, in_files, path_in_files
from bulkhead.config.locate import is_path
from bulkhead.config.named import DISKS, ERASED, FIRMWARE, INITRDS, KERNELS, is_own_program
from bulkhead.config.quantity import (
    HEXADECIMAL,
    RATE_UNITS,
    SHARE_UNITS,
    TIME_UNITS,
    U64_MAX,
    Address,
    Bytes,
    BytesPerS,
    Nanoseconds,
    amount_text,
    described,
    parse,
    problem,
    quantity_schema,
    with_unit,
)
from bulkhead.config.shares import AUTO_BANKS, AUTO_LLC, UNLIMITED, Bandwidth, Banks, ColorIndex, Llc

MS = 10**6
MB_PER_S = 10**6
MOST_RECEIVERS = 6  # of a flow: all domains of the manifest but its sender and the broker
MOST_CONNECTIONS = 128  # of a flow: `most_flow_connections` of the manifest
Core = Annotated[int, Field(ge=0, le=63)]
FunctionId = Annotated[int, Field(ge=0, le=0xFFFF_FFFF), HEXADECIMAL]  # of SMC calls (DEN0028)

# References to files. Each type says which values are not paths but names of what the tool has.
FilePath = Annotated[Text, path_in_files()]
PlatformReference = Annotated[Text, path_in_files(lambda value, _: not is_path(value))]
ProgramReference = Annotated[Text, path_in_files(is_own_program)]
KernelReference = Annotated[Text, path_in_files(lambda value, _: value in KERNELS)]
InitrdReference = Annotated[Text, path_in_files(lambda value, _: value in INITRDS)]
DiskReference = Annotated[Text, path_in_files(lambda value, _: value in DISKS)]
FlashReference = Annotated[Text, path_in_files(lambda value, _: value in (*FIRMWARE, ERASED))]


def _param(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int):
        raise problem("wrong-type", f"is {described(value)}", "a whole number of 64 bits")
    if not 0 <= value <= U64_MAX:
        raise problem("out-of-range", f"{str(value)[:40]} is out of range", f"0 to {U64_MAX}")
    return value


def _property_name(value: object) -> object:
    good = isinstance(value, str) and 0 < len(value) <= 31 and value.isascii() and value[0].isalpha()
    if not good or not all(c.isalnum() or c in "_-,.+" for c in str(value)):
        raise problem("bad-name", "is not a property name", "1 to 31 of letters, digits and _ - , . +")
    return value


def _step(value: object) -> object:
    if value == "adaptive":
        return None
    allowed = "adaptive, or a fraction as `5 %`"
    if not isinstance(value, str):
        raise problem("wrong-type", f"is {described(value)}", allowed)
    if value.strip()[:1].isdigit():
        amount = parse(value, SHARE_UNITS, "5 %", bare=False)
        if not 0 < amount < 1:
            raise problem("out-of-range", f"'{value}' is out of range", "more than 0 %, less than 100 %")
        return amount
    raise problem("bad-value", f"'{value[:40]}' is not known here", allowed)


def _auto_core(value: object) -> object:
    if value == "auto":
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise problem("wrong-type", f"is {described(value)}", "auto, or a core")
    return value


def _auto_rate(value: object) -> object:
    return None if value == "auto" else value


def _threshold(value: object) -> object:
    """A share of DRAM utilization as a Fraction, or a bandwidth as bytes per s."""
    if isinstance(value, str) and "/" in value:
        amount = parse(value, RATE_UNITS, "2 GB/s", bare=False)
        if amount.denominator != 1 or amount == 0:
            raise problem("out-of-range", f"'{value}' is not a positive whole number of bytes per s")
        return int(amount)
    amount = parse(value, SHARE_UNITS, "80 %", bare=False)
    if not 0 < amount <= 2:
        raise problem("out-of-range", f"'{value}' is out of range", "more than 0 % up to 200 %")
    return amount


def _threshold_text(value: Fraction | int) -> str:
    return amount_text(value, SHARE_UNITS if isinstance(value, Fraction) else RATE_UNITS)


def _virtual_partids(value: object) -> object:
    if value == 1 and not isinstance(value, bool):
        raise problem(
            "out-of-range",
            "1 PARTID is what every domain has, so the guest would have no choice",
            "0, 2 to 32",
        )
    return value


def _ready(value: object) -> object:
    """A time in ns, or `true`: by the end of the run."""
    if value is True:
        return U64_MAX
    if isinstance(value, bool) or value is None:
        raise problem("wrong-type", f"is {described(value)}", "true, or a time as `100 ms`")
    return int(parse(value, TIME_UNITS, "100 ms", bare=False))


def _ready_text(value: int) -> object:
    return True if value == U64_MAX else amount_text(value, TIME_UNITS)


def _factor(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise problem("wrong-type", f"is {described(value)}", "a number, as 1.2")
    if not 1 <= value <= 1000:
        raise problem("out-of-range", f"{value} is out of range", "1 to 1000")
    return Fraction(value)


class Console(Model):
    default: Name | None = None


class DomainConsole(ShortModel):
    """A domain's use of the single UART. A truth value stands for `{ present: ... }`."""

    short: ClassVar[JsonSchemaValue] = {"type": "boolean"}
    forms: ClassVar[str] = "true, false, or { raw: true }"
    present: bool = True
    raw: bool = False  # bytes unchanged and without tags; no other domain may have a console

    @classmethod
    def from_short(cls, value: object) -> dict[str, object] | None:
        return {"present": value} if isinstance(value, bool) else None


WITH_CONSOLE = DomainConsole.model_validate(True)
WITHOUT_CONSOLE = DomainConsole.model_validate(False)


class Tables(Model):
    """Memory for stage-2 tables that have a specification."""

    colors: tuple[ColorIndex, ...] | None = Field(default=None, min_length=1)  # of the LLC [as needed]


class Hypervisor(Model):
    llc: Llc = AUTO_LLC
    banks: Banks = AUTO_BANKS
    memory: Bytes | None = None  # the hypervisor's own [what its tables need, at least 8 MiB]
    tables: Tables = Tables()
    console: Console = Console()
    # For cores that several domains name.
    scheduler: Literal["fixed-priority", "round-robin"] = "fixed-priority"
    slice: Nanoseconds = 1 * MS  # time after which round robin switches to the next VCPU


class Isolation(Model):
    llc: Literal["auto", "mpam", "coloring", "none"] = "auto"
    color_l1: bool = False  # divide the L1 data cache, too: more and smaller colors
    banks: Literal["none", "coloring"] = "none"
    premap: Literal["auto", "all", "none"] = "auto"


# All but `none` are policies of core/ (core/regulator_policies.c).
RegulationPolicy = Literal[
    "none", "static", "dynamic", "dynamic-bandwidth", "dynamic-delay", "dynamic-turns", "dynamic-phases"
]


class Regulation(Model):
    policy: RegulationPolicy = "none"
    interval: Nanoseconds = 1 * MS
    threshold: Annotated[
        Fraction | int,
        BeforeValidator(_threshold),
        quantity_schema("80 %", SHARE_UNITS),
        in_files(_threshold_text),
    ] = Fraction(4, 5)  # default of `dynamic-delay`: 5 %
    step: Annotated[
        Fraction | None,
        BeforeValidator(_step),
        WithJsonSchema({"type": "string", "examples": ["adaptive", "5 %"]}),
        with_unit(SHARE_UNITS),
    ] = None  # None: adaptive
    hold: Literal["keep", "decrease"] = "keep"  # below the threshold, while no core is throttled
    # For `dynamic-delay`: how long its account accumulates; then values that replace the platform's
    # `dram.delays`.
    horizon: Nanoseconds = 100 * MS
    delay: Nanoseconds | None = None
    cluster_delay: Nanoseconds | None = None
    least: BytesPerS | None = None
    # Devices of best-effort domains that are regulated like their cores, each by a regulator of the
    # interconnect.
    devices: tuple[Name, ...] = ()
    # Smallest budget of a regulated core, or device [at least what the regulator of each device can hold, and
    # the platform's smallest budget].
    floor: BytesPerS = 1 * MB_PER_S
    ceiling: BytesPerS | None = None  # of all regulated masters together [the largest that can be counted]
    saturation: BytesPerS | None = None  # the other cores' limits are below it and leave the rest
    samples: bool = True  # a sample of each interval is kept
    reclaim: bool = False
    overcommit: bool = False


class File(Model):
    """Contents of a file, placed in a domain's memory."""

    file: FilePath
    at: Address


class Image(Model):
    """What a domain starts with: a program (`elf`), the bytes of a file (`raw`), a kernel with its files, or
    only an address in a region of `flash` (`entry`)."""

    elf: ProgramReference | None = None
    raw: ProgramReference | None = None
    kernel: KernelReference | None = None
    at: Address | None = None  # address of `raw`; for an ELF file of type DYN, its lowest address
    entry: Address | None = None  # [`at` of `raw`]
    initrd: InitrdReference | None = None
    cmdline: Annotated[str, Field(max_length=2047)] | None = None
    device_tree: FilePath | None = None  # a file used in place of the generated one
    device_tree_at: Address | None = None  # [the end of the first region; for a kernel, after the kernel]
    files: tuple[File, ...] = ()  # further files in memory when the domain starts

    @model_validator(mode="before")
    @classmethod
    def _one_kind(cls, value: object) -> object:
        if not isinstance(value, dict) or [key for key in value if key not in cls.model_fields]:
            return value
        given = [key for key in ("elf", "raw", "kernel") if key in value]
        if len(given) > 1:
            raise problem("conflict", f"has both {' and '.join(given)}", "one of them")
        if not given and "entry" not in value:
            raise problem("missing-key", "has no elf, raw, kernel or entry", "one of them")
        kind = given[0] if given else "entry"
        stray = [key for key, kinds in _OF_KINDS.items() if key in value and kind not in kinds]
        if stray:
            raise problem("conflict", f"{stray[0]} does not belong to an image with {kind}")
        if kind == "raw" and "at" not in value:
            raise problem(
                "missing-key", "a raw image needs the key `at`, its place in memory", "at: an address"
            )
        return value


# Keys that apply only to some kinds of images.
_OF_KINDS = {"at": ("elf", "raw"), "entry": ("raw", "entry"), "initrd": ("kernel",)}


class Region(Model):
    at: Address
    size: Bytes
    spec: Spec = ()  # for its translations: where the tables are [the domain's `table_placement`]
    flash: FlashReference | None = None  # a file whose bytes the guest reads there and cannot write
    programmable: bool = False  # written by commands of NOR flash, and in the guest's device tree

    @model_validator(mode="after")
    def _of_flash(self) -> Region:
        if self.programmable and self.flash is None:
            raise problem(
                "missing-key", "programmable flash needs the key `flash`, its content", "flash: erased"
            )
        return self

    @property
    def end(self) -> int:
        return self.at + self.size


class Calls(ShortModel):
    """Functions of the board's firmware, from `first` to `last`. A number stands for a single function."""

    short: ClassVar[JsonSchemaValue] = {"type": "integer"}
    forms: ClassVar[str] = "a number, or { first, last }"
    first: FunctionId
    last: FunctionId

    @classmethod
    def from_short(cls, value: object) -> dict[str, object] | None:
        number = isinstance(value, int) and not isinstance(value, bool)
        return {"first": value, "last": value} if number else None


class CpuTime(WordModel):
    """CPU time of each VCPU on a shared core: at most `budget` ns in each period."""

    words: ClassVar[dict[str, JsonSchemaValue]] = {"unlimited": {}}
    budget: Nanoseconds | None = None
    period: Nanoseconds = 1 * MS

    @property
    def unlimited(self) -> bool:
        return self.budget is None


UNLIMITED_CPU = CpuTime.model_validate("unlimited")


class SocketPool(WordModel):
    """The part of a domain's memory that its socket device reaches. `auto`: as much as its flows need."""

    words: ClassVar[dict[str, JsonSchemaValue]] = {"auto": {}}
    one_of: ClassVar[tuple[str, ...]] = ("size",)
    size: Bytes | None = None


class Domain(Model):
    name: Name
    criticality: Literal["rt", "best-effort"] = "best-effort"
    cpus: tuple[Core, ...] = Field(min_length=1)
    priority: Annotated[int, Field(ge=0, le=255)] = 0
    cpu: CpuTime = UNLIMITED_CPU
    image: Image
    memory: tuple[Region, ...] = Field(min_length=1)
    llc: Llc = AUTO_LLC
    banks: Banks = AUTO_BANKS
    bandwidth: Bandwidth = UNLIMITED
    console: DomainConsole = WITH_CONSOLE
    params: dict[
        Annotated[str, BeforeValidator(_property_name)], Annotated[int, BeforeValidator(_param)]
    ] = {}
    devices: tuple[Name, ...] = ()
    disks: dict[Name, DiskReference] = {}  # contents of disks of the emulator at the start of a run [empty]
    # Declared rates of its devices that master memory, reads and writes together.
    device_rates: dict[Name, BytesPerS] = {}
    dma: Literal["refuse", "trusted"] = "refuse"  # for devices that master memory and are not confined
    manager: bool = False
    pmu: bool = False  # it gets all performance counters of its cores that the hypervisor does not need
    # PARTIDs that the guest itself may use; 0: MPAM is hidden from it.
    virtual_partids: Annotated[int, BeforeValidator(_virtual_partids), Field(ge=0, le=32)] = 0
    socket: bool = False  # also without a flow, as a manager may add flows while the system runs
    # What its guest finds the socket device behind: registers alone, or a PCI root with this one function.
    socket_transport: Literal["mmio", "pci"] = "mmio"
    socket_pool: SocketPool | None = None  # the broker reaches this part of its memory [all of its memory]
    restart: Literal["never", "on-failure"] = "never"
    # Invalidations of TLBs or instruction caches reach all cores if the guest executes them itself
    # (`direct`). If the hypervisor executes them instead, and the domain has a single core, they stay on that
    # core: only those of `translations`, or both kinds (`trapped`).
    maintenance: Literal["auto", "direct", "translations", "trapped"] = "auto"
    # Effect of an access to an address at which the domain has nothing: its `end`, or an external `abort` in
    # the guest, as on boards without a device at that address.
    faults: Literal["end", "abort"] = "end"
    firmware: tuple[Calls, ...] = ()  # firmware functions that its guest may call by SMC
    # For regions without a `spec`. `ocm`: all stage-2 tables of the domain are in on-chip memory.
    table_placement: Literal["best-effort", "ocm"] = "best-effort"
    workload: Name | None = None

    @property
    def memory_bytes(self) -> int:
        return sum(region.size for region in self.memory)

    @property
    def ram(self) -> tuple[Region, ...]:
        """Regions that are RAM: the guest finds them in its device tree and may write them."""
        return tuple(region for region in self.memory if region.flash is None)

    @property
    def programmable(self) -> Region | None:
        """Its region of flash that takes commands; None: it has none."""
        return next((region for region in self.memory if region.programmable), None)


BROKER = "broker"  # name of the domain that moves the packets, unless the file names it
CPU_COPY, HYPERVISORS_ENGINE = "cpu-copy", "zdma"  # values of `broker.engine` that name no device


class Broker(Model):
    domains: tuple[Name, ...] = ()  # whose packets it moves [of the only broker: all]
    cpu: Annotated[
        Core | None,
        BeforeValidator(_auto_core),
        WithJsonSchema({"anyOf": [{"const": "auto"}, {"type": "integer"}]}),
    ] = None
    # `zdma`: the hypervisor's; another name: a device of the platform, which the broker programs itself.
    engine: Name = CPU_COPY
    dma: Literal["refuse", "trusted"] = "refuse"  # for an engine of its own that is not confined
    # With an engine: packets of flows whose `size` is at most this are copied by the broker's core [packets
    # without payload, and payload as short as a header]
    copy_up_to: Bytes | None = None
    # What it waits for between transfers. Events cost no interrupt, but WFE does not wait on the emulator.
    wait: Literal["auto", "event", "interrupt"] = "auto"
    chunk: Bytes = 4096
    rate: Annotated[
        BytesPerS | None,
        BeforeValidator(_auto_rate),
        WithJsonSchema({"type": "string", "examples": ["auto", "200 MB/s"]}),
    ] = None
    llc: Llc | None = None  # [the hypervisor's colors if the file names them, else as for a domain]
    banks: Banks = AUTO_BANKS
    stamps: bool = False  # measure and report the parts of packets' paths
    samples: bool = False  # record each delivered packet, for `bulkhead trace`
    _name: str = PrivateAttr(BROKER)

    @property
    def name(self) -> str:
        """Name of the domain that is this broker."""
        return self._name

    def called(self, name: str) -> Broker:
        """The same broker with the name that the file gives it."""
        named = self.model_copy()
        named._name = name
        return named

    @property
    def copies(self) -> bool:
        """Whether the broker's core copies everything, without an engine."""
        return self.engine == CPU_COPY

    @property
    def own_engine(self) -> str | None:
        """Name of the engine that the broker programs itself; None: it has none."""
        return None if self.engine in (CPU_COPY, HYPERVISORS_ENGINE) else self.engine


class WayBack(Model):
    """Payload from a flow's receiver back to its sender, on the same connections."""

    size: Bytes
    period: Nanoseconds
    deadline: Nanoseconds
    transfers: Annotated[int, Field(ge=1, le=1 << 20)] | None = None


_NAME_SCHEMA: JsonSchemaValue = {"type": "string", "pattern": NAME_PATTERN}
_SEVERAL_SCHEMA: JsonSchemaValue = {
    "type": "array",
    "items": _NAME_SCHEMA,
    "minItems": 2,
    "maxItems": MOST_RECEIVERS,
}


def _receivers(value: object) -> object:
    allowed = f"the name of a domain, or a list of 2 to {MOST_RECEIVERS} names"
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple):
        raise problem("wrong-type", f"is {described(value)}", allowed)
    if not 2 <= len(value) <= MOST_RECEIVERS:
        raise problem("out-of-range", f"has {len(value)} receivers", allowed)
    return tuple(value)


def _receivers_text(value: tuple[str, ...]) -> str | list[str]:
    return value[0] if len(value) == 1 else list(value)


class Flow(Model):
    name: Name
    from_: Name = Field(alias="from")
    receivers: Annotated[
        tuple[Name, ...],
        BeforeValidator(_receivers),
        WithJsonSchema({"anyOf": [_NAME_SCHEMA, _SEVERAL_SCHEMA]}),
        in_files(_receivers_text),
    ] = Field(alias="to")  # several: a multicast flow
    port: Annotated[int, Field(ge=0, le=65535)]
    size: Bytes
    period: Nanoseconds
    deadline: Nanoseconds
    # Number of transfers of a packet, if its buffers do not allow one for each chunk.
    transfers: Annotated[int, Field(ge=1, le=1 << 20)] | None = None
    connections: Annotated[int, Field(ge=1, le=MOST_CONNECTIONS)] = 16  # most connections at a time
    back: WayBack | None = None  # without it, answers carry no payload


class ChainDevice(Model):
    """The device's part of an answer: at most `latency`, and the time of `bytes` at `rate`."""

    name: Name
    latency: Nanoseconds
    bytes: Bytes
    rate: BytesPerS  # at least


class Chain(Model):
    """A request along a flow to a server, and the answer along another one."""

    name: Name
    request: Name
    answer: Annotated[Text, Field(description="a flow, or `NAME.back`")] | None = None  # [its way back]
    deadline: Nanoseconds
    client_time: Nanoseconds
    client_lines: Annotated[int, Field(ge=0, le=1 << 31)] | None = None
    server_time: Nanoseconds
    server_lines: Annotated[int, Field(ge=0, le=1 << 31)] | None = None
    device: ChainDevice | None = None

    @property
    def answer_name(self) -> str:
        return f"{self.request}.back" if self.answer is None else self.answer


class Expectation(WordModel):
    """How a domain may end, and what its run has to show. A word stands for the state alone."""

    words: ClassVar[dict[str, JsonSchemaValue]] = {
        state: {"state": state} for state in ("running", "stopped", "crashed")
    }
    state: Literal["running", "stopped", "crashed"] = "running"  # state allowed at the end, besides running
    ready: Annotated[
        int | None,
        BeforeValidator(_ready),
        WithJsonSchema({"anyOf": [{"const": True}, {"type": "string"}]}),
        in_files(_ready_text),
    ] = None  # guest time by which it has reported to be ready [any time]
    throttled: bool | None = None  # whether its budget stopped it in at least one period
    # At most, compared with its run alone.
    slowdown: Annotated[
        Fraction | None, BeforeValidator(_factor), WithJsonSchema({"type": "number"}), in_files(exact_decimal)
    ] = None
    release_delay: Nanoseconds | None = None  # at most, of the jobs of `periodic`, as it reports them
    report: dict[Text, Annotated[int, BeforeValidator(_param)]] = {}  # numbers in its last report line
    line: Text | None = None  # text that a line of its console contains
    within: Nanoseconds | None = None  # guest time by which `line` must appear [by the end of the run]
    no_line: Text | None = None  # text that no line of its console contains

    @model_validator(mode="after")
    def _of_a_line(self) -> Expectation:
        if self.within is not None and self.line is None:
            raise problem(
                "missing-key",
                "`within` needs the key `line`, which says which line is meant",
                "line: a part of it",
            )
        return self

    @property
    def texts(self) -> tuple[str, ...]:
        """Texts to search for in its console."""
        return tuple(text for text in (self.line, self.no_line) if text is not None)


class Run(Model):
    """Defaults of `bulkhead run` for options that the command leaves out."""

    icount: bool = False  # time is counted instructions: runs repeat exactly, even on a busy host
    for_: Nanoseconds | None = Field(default=None, alias="for")  # guest time [until all domains end]
    for_on_machine: Nanoseconds | None = None  # on the simulated machine, which is slower [`for`]

    def duration(self, *, simulated: bool) -> int | None:
        """Guest time in ns; None: until all domains end."""
        return self.for_on_machine if simulated and self.for_on_machine is not None else self.for_


class System(Model):
    bulkhead: FormatVersion
    name: Name
    platform: PlatformReference
    hypervisor: Hypervisor = Hypervisor()
    isolation: Isolation = Isolation()
    regulation: Regulation | None = None
    domains: tuple[Domain, ...] = Field(
        min_length=1, description="a list of domains, or `components` in a system of the microkernel"
    )
    broker: Broker | None = None
    brokers: dict[Name, Broker] = {}  # several of them, in place of `broker`
    flows: tuple[Flow, ...] = ()
    chains: tuple[Chain, ...] = ()
    run: Run = Run()
    expect: dict[Name, Expectation] = {}

    def domain(self, name: str) -> Domain | None:
        return next((domain for domain in self.domains if domain.name == name), None)

    def shared_cores(self) -> frozenset[int]:
        """Cores that have VCPUs of several domains."""
        named = [core for domain in self.domains for core in set(domain.cpus)]
        return frozenset(core for core in named if named.count(core) > 1)

    def maintenance_of(self, domain: Domain) -> str:
        """The domain's `maintenance`. `auto` becomes `translations`, which costs a Linux boot less than 1 %,
        for best-effort domains in a system with real-time ones, and `direct` otherwise."""
        if domain.maintenance != "auto":
            return domain.maintenance
        realtime = any(other.criticality == "rt" for other in self.domains)
        return "translations" if realtime and domain.criticality != "rt" else "direct"

    def enforced_cpu_time(self, domain: Domain) -> tuple[int, int] | None:
        """Budget and period in ns. None: the domain has no budget, or its cores are its own."""
        if domain.cpu.budget is None or not self.shared_cores().intersection(domain.cpus):
            return None
        return domain.cpu.budget, domain.cpu.period
