# SPDX-License-Identifier: Apache-2.0
"""The system file: which domains there are and what each was promised.

load.py fills these from YAML and crosscheck.py checks what one key alone cannot tell. Field names are
the names of the file; what is optional has its default here and nowhere else.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from bulkhead.config.base import FormatVersion, Model, Name, ShortModel, Text, WordModel
from bulkhead.config.components import Spec
from bulkhead.config.quantity import (
    RATE_UNITS,
    SHARE_UNITS,
    TIME_UNITS,
    U64_MAX,
    Address,
    Bytes,
    BytesPerS,
    Nanoseconds,
    described,
    parse,
    problem,
)
from bulkhead.config.shares import AUTO_BANKS, AUTO_LLC, UNLIMITED, Bandwidth, Banks, ColorIndex, Llc

MS = 10**6
MB_PER_S = 10**6
MOST_CONNECTIONS = 128  # of a flow: `most_flow_connections` of the manifest
Core = Annotated[int, Field(ge=0, le=63)]
FunctionId = Annotated[int, Field(ge=0, le=0xFFFF_FFFF)]  # of the SMC calling convention (DEN0028)


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


def _virtual_partids(value: object) -> object:
    if value == 1 and not isinstance(value, bool):
        raise problem(
            "out-of-range", "is what every domain has: there is nothing to choose from", "0, 2 to 32"
        )
    return value


def _ready(value: object) -> object:
    """A time, or `true`: by the end of the run, whenever that is."""
    if value is True:
        return U64_MAX
    if isinstance(value, bool) or value is None:
        raise problem("wrong-type", f"is {described(value)}", "true, or a time as `100 ms`")
    return int(parse(value, TIME_UNITS, "100 ms", bare=False))


def _factor(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise problem("wrong-type", f"is {described(value)}", "a number, as 1.2")
    if not 1 <= value <= 1000:
        raise problem("out-of-range", f"{value} is out of range", "1 to 1000")
    return Fraction(value)


class Console(Model):
    default: Name | None = None


class DomainConsole(ShortModel):
    """What a domain has of the one UART. A truth value stands for `{ present: ... }`."""

    short: ClassVar[dict[str, Any]] = {"type": "boolean"}
    forms: ClassVar[str] = "true, false, or { raw: true }"
    present: bool = True
    raw: bool = False  # the terminal for itself: bytes as they are, no tags; nobody else has a console

    @classmethod
    def from_short(cls, value: object) -> dict[str, object] | None:
        return {"present": value} if isinstance(value, bool) else None


WITH_CONSOLE = DomainConsole.model_validate(True)
WITHOUT_CONSOLE = DomainConsole.model_validate(False)


class Tables(Model):
    """Memory for stage-2 tables with a specification."""

    colors: tuple[ColorIndex, ...] | None = Field(default=None, min_length=1)  # of the LLC [as they need]


class Hypervisor(Model):
    llc: Llc = AUTO_LLC
    banks: Banks = AUTO_BANKS
    memory: Bytes | None = None  # of its own [what its tables need, at least 8 MiB]
    tables: Tables = Tables()
    console: Console = Console()
    # Of cores that several domains name.
    scheduler: Literal["fixed-priority", "round-robin"] = "fixed-priority"
    slice: Nanoseconds = 1 * MS  # after that time the next in turn


class Isolation(Model):
    llc: Literal["auto", "mpam", "coloring", "none"] = "auto"
    color_l1: bool = False  # split the L1 data cache too, for more and smaller colors
    banks: Literal["none", "coloring"] = "none"
    premap: Literal["auto", "all", "none"] = "auto"


# Each but `none` is a policy of core/ (core/regulator_policies.c).
RegulationPolicy = Literal["none", "static", "dynamic", "dynamic-bandwidth", "dynamic-delay", "dynamic-turns"]


class Regulation(Model):
    policy: RegulationPolicy = "none"
    interval: Nanoseconds = 1 * MS
    threshold: Annotated[
        Fraction | int, BeforeValidator(_threshold), WithJsonSchema({"type": "string", "examples": ["80 %"]})
    ] = Fraction(4, 5)  # of `dynamic-delay` [5 %]
    step: Annotated[
        Fraction | None,
        BeforeValidator(_step),
        WithJsonSchema({"type": "string", "examples": ["adaptive", "5 %"]}),
    ] = None  # None: adaptive
    hold: Literal["keep", "decrease"] = "keep"  # below the threshold, while nobody is throttled
    # Of `dynamic-delay`: how long its account saves up for; and in place of the platform's `dram.delays`.
    horizon: Nanoseconds = 100 * MS
    delay: Nanoseconds | None = None
    cluster_delay: Nanoseconds | None = None
    least: BytesPerS | None = None
    floor: BytesPerS = 1 * MB_PER_S  # of a regulated core
    ceiling: BytesPerS | None = None  # of all regulated cores [the largest that can be counted]
    saturation: BytesPerS | None = None  # limits of the other cores stay below, and leave the rest
    samples: bool = True  # one of each interval is kept
    reclaim: bool = False
    overcommit: bool = False


class File(Model):
    """Bytes of a file in a domain's memory."""

    file: Text
    at: Address


class Image(Model):
    """What a domain begins with: a program (`elf`), the bytes of a file (`raw`), a kernel with what belongs
    to it, or an address alone (`entry`), in a region of `flash`."""

    elf: Text | None = None
    raw: Text | None = None
    kernel: Text | None = None
    at: Address | None = None  # of `raw`; of an ELF file of type DYN its lowest address
    entry: Address | None = None  # [`at` of `raw`]
    initrd: Text | None = None
    cmdline: Annotated[str, Field(max_length=2047)] | None = None
    device_tree: Text | None = None  # a file in the place of the one that the tool makes
    device_tree_at: Address | None = None  # [the end of the first region; of a kernel, behind it]
    files: tuple[File, ...] = ()  # more of what is in memory when the domain starts

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
            raise problem("missing-key", "raw does not say where it is in memory", "at: an address")
        return value


# Keys of an image that not every kind has.
_OF_KINDS = {"at": ("elf", "raw"), "entry": ("raw", "entry"), "initrd": ("kernel",)}


class Region(Model):
    at: Address
    size: Bytes
    spec: Spec = ()  # of translations to it: where its stage-2 tables are [the domain's `table_placement`]
    flash: Text | None = None  # a file: what the guest reads there, and cannot write
    programmable: bool = False  # but for commands of NOR flash; only of such flash the guest is told

    @model_validator(mode="after")
    def _of_flash(self) -> Region:
        if self.programmable and self.flash is None:
            raise problem("missing-key", "programmable does not say what is in the flash", "flash: erased")
        return self

    @property
    def end(self) -> int:
        return self.at + self.size


class Calls(ShortModel):
    """Functions of the board's firmware, `first` to `last`. A number stands for one."""

    short: ClassVar[dict[str, Any]] = {"type": "integer"}
    forms: ClassVar[str] = "a number, or { first, last }"
    first: FunctionId
    last: FunctionId

    @classmethod
    def from_short(cls, value: object) -> dict[str, object] | None:
        number = isinstance(value, int) and not isinstance(value, bool)
        return {"first": value, "last": value} if number else None


class CpuTime(WordModel):
    """CPU time of each VCPU on a core that it shares: so much in each period, and no more."""

    words: ClassVar[dict[str, dict[str, Any]]] = {"unlimited": {}}
    budget: Nanoseconds | None = None
    period: Nanoseconds = 1 * MS

    @property
    def unlimited(self) -> bool:
        return self.budget is None


UNLIMITED_CPU = CpuTime.model_validate("unlimited")


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
    dma: Literal["refuse", "trusted"] = "refuse"  # devices that master memory and that nothing confines
    manager: bool = False
    pmu: bool = False  # performance monitors: all counters of its cores that the hypervisor does not need
    # PARTIDs that the guest itself may choose from; 0: it sees no MPAM.
    virtual_partids: Annotated[int, BeforeValidator(_virtual_partids), Field(ge=0, le=32)] = 0
    socket: bool = False  # also without a flow: a manager may add some while the system runs
    restart: Literal["never", "on-failure"] = "never"
    # What invalidates translations or instruction caches reaches all cores if the guest executes it itself
    # (`direct`). The hypervisor in its place does it on the domain's core alone, if it has no other: of
    # `translations`, or of both (`trapped`).
    maintenance: Literal["auto", "direct", "translations", "trapped"] = "auto"
    # What an access that the domain has nothing for is: its `end`, or an external `abort` in the guest, as
    # boards answer one that no device is at.
    faults: Literal["end", "abort"] = "end"
    firmware: tuple[Calls, ...] = ()  # what of the board's firmware its guest may call by SMC
    # Of regions without a `spec`. `ocm`: all stage-2 tables of the domain are on the chip.
    table_placement: Literal["best-effort", "ocm"] = "best-effort"
    workload: Name | None = None

    @property
    def memory_bytes(self) -> int:
        return sum(region.size for region in self.memory)

    @property
    def ram(self) -> tuple[Region, ...]:
        """What its guest is told of, and may write."""
        return tuple(region for region in self.memory if region.flash is None)

    @property
    def programmable(self) -> Region | None:
        """Its flash that takes commands."""
        return next((region for region in self.memory if region.programmable), None)


class Broker(Model):
    cpu: Annotated[
        Core | None,
        BeforeValidator(_auto_core),
        WithJsonSchema({"anyOf": [{"const": "auto"}, {"type": "integer"}]}),
    ] = None
    engine: Literal["cpu-copy", "zdma"] = "cpu-copy"
    # Beside an engine: flows whose `size` is at most this are copied by the broker's core [packets without
    # payload, and payload as short as a header]
    copy_up_to: Bytes | None = None
    # For what it waits between transfers: events cost no interrupt, but the emulator's WFE does not wait.
    wait: Literal["auto", "event", "interrupt"] = "auto"
    chunk: Bytes = 4096
    rate: Annotated[
        BytesPerS | None,
        BeforeValidator(_auto_rate),
        WithJsonSchema({"type": "string", "examples": ["auto", "200 MB/s"]}),
    ] = None
    stamps: bool = False  # what the parts of a packet's path take is measured and reported


class WayBack(Model):
    """Payload from a flow's receiver to its sender, along the same connections."""

    size: Bytes
    period: Nanoseconds
    deadline: Nanoseconds
    transfers: Annotated[int, Field(ge=1, le=1 << 20)] | None = None


class Flow(Model):
    name: Name
    from_: Name = Field(alias="from")
    to: Name
    port: Annotated[int, Field(ge=0, le=65535)]
    size: Bytes
    period: Nanoseconds
    deadline: Nanoseconds
    # Of a packet, where its buffers do not allow one for each chunk.
    transfers: Annotated[int, Field(ge=1, le=1 << 20)] | None = None
    connections: Annotated[int, Field(ge=1, le=MOST_CONNECTIONS)] = 16  # at a time
    back: WayBack | None = None  # without it, answers carry no payload


class Expectation(WordModel):
    """How a domain may end, and what its run has to show. A word stands for the state alone."""

    words: ClassVar[dict[str, dict[str, Any]]] = {
        state: {"state": state} for state in ("running", "stopped", "crashed")
    }
    state: Literal["running", "stopped", "crashed"] = (
        "running"  # in which it may be at the end, beside running
    )
    ready: Annotated[
        int | None, BeforeValidator(_ready), WithJsonSchema({"anyOf": [{"const": True}, {"type": "string"}]})
    ] = None  # guest time; by then it has said that it is ready [whenever]
    throttled: bool | None = None  # its budget stopped it in at least one period, or in none
    slowdown: Annotated[Fraction | None, BeforeValidator(_factor), WithJsonSchema({"type": "number"})] = (
        None  # at most, against its run alone
    )
    release_delay: Nanoseconds | None = None  # at most, of the jobs of `periodic`, by its report
    report: dict[Text, Annotated[int, BeforeValidator(_param)]] = {}  # numbers of its last report line
    line: Text | None = None  # a line of its console has this text,
    within: Nanoseconds | None = None  # by this guest time [by the end of the run]
    no_line: Text | None = None  # and none has this

    @model_validator(mode="after")
    def _of_a_line(self) -> Expectation:
        if self.within is not None and self.line is None:
            raise problem("missing-key", "within does not say which line", "line: a part of it")
        return self

    @property
    def texts(self) -> tuple[str, ...]:
        """What its console is looked through for."""
        return tuple(text for text in (self.line, self.no_line) if text is not None)


class Run(Model):
    """How `bulkhead run` runs it when the command does not say."""

    icount: bool = False  # counted instructions are the time: the same run every time, on a busy host too
    for_: Nanoseconds | None = Field(default=None, alias="for")  # guest time; without it until all end
    for_on_machine: Nanoseconds | None = None  # on the simulated machine, where time costs more [`for`]

    def duration(self, *, simulated: bool) -> int | None:
        """Guest time; None: until all end."""
        return self.for_on_machine if simulated and self.for_on_machine is not None else self.for_


class System(Model):
    bulkhead: FormatVersion
    name: Name
    platform: Text
    hypervisor: Hypervisor = Hypervisor()
    isolation: Isolation = Isolation()
    regulation: Regulation | None = None
    domains: tuple[Domain, ...] = Field(
        min_length=1, description="a list of domains, or `components` in a system of the microkernel"
    )
    broker: Broker | None = None
    flows: tuple[Flow, ...] = ()
    run: Run = Run()
    expect: dict[Name, Expectation] = {}

    def domain(self, name: str) -> Domain | None:
        return next((domain for domain in self.domains if domain.name == name), None)

    def shared_cores(self) -> frozenset[int]:
        """Cores with VCPUs of several domains."""
        named = [core for domain in self.domains for core in set(domain.cpus)]
        return frozenset(core for core in named if named.count(core) > 1)

    def maintenance_of(self, domain: Domain) -> str:
        """`auto`: what costs a Linux boot less than 1 %, of best-effort domains beside real-time ones."""
        if domain.maintenance != "auto":
            return domain.maintenance
        realtime = any(other.criticality == "rt" for other in self.domains)
        return "translations" if realtime and domain.criticality != "rt" else "direct"

    def enforced_cpu_time(self, domain: Domain) -> tuple[int, int] | None:
        """Budget and period, ns. None: it has none, or nobody waits for it since its cores are its own."""
        if domain.cpu.budget is None or not self.shared_cores().intersection(domain.cpus):
            return None
        return domain.cpu.budget, domain.cpu.period
