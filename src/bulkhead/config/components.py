# SPDX-License-Identifier: Apache-2.0
"""Models of the microkernel's system file: its components and the specification of their memory (X9).

validate.py fills these from YAML; admission/crosscheck_components.py checks rules that span several keys.
Field names are the keys of the file. Defaults of optional keys are defined here only.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from bulkhead.config.base import FormatVersion, Model, Name, Text
from bulkhead.config.problem import nearest_of, quoted
from bulkhead.config.quantity import Address, Bytes, Nanoseconds, described, problem

SPECS = ("deterministic", "l1", "l2", "l3", "independent")
OWN = ("stack", "data", "heap")  # allocations that each component has, and that phases can name
RESERVED = (*OWN, "code")


def _word(value: object) -> object:
    allowed = ", ".join(SPECS)
    if not isinstance(value, str):
        raise problem("wrong-type", f"is {described(value)}", allowed)
    if value not in SPECS:
        raise problem(
            "bad-value", f"{quoted(value)} is not a specification", allowed, nearest_of(value, SPECS)
        )
    return value


def _words(value: object) -> object:
    """Accepts a list of specifications, or one word in place of a list with one element."""
    if isinstance(value, str):
        return (_word(value),)
    if not isinstance(value, (tuple, list)):
        raise problem("wrong-type", f"is {described(value)}", f"a list of {', '.join(SPECS)}")
    return tuple(value)


def _each_once(value: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(value)) != len(value):
        raise problem("duplicate", "contains a specification twice", "each once")
    return value


def _region_size(value: int) -> int:
    if value & (value - 1) or not 32 <= value <= 1 << 31:
        raise problem(
            "bad-value", f"{value} bytes cannot be the size of a region", "a power of two, 32 B to 2 GiB"
        )
    return value


Spec = Annotated[
    tuple[Annotated[str, BeforeValidator(_word)], ...],
    BeforeValidator(_words),
    AfterValidator(_each_once),
    WithJsonSchema(
        {"anyOf": [{"enum": list(SPECS)}, {"type": "array", "items": {"enum": list(SPECS)}}], "default": []}
    ),
]
ParameterName = Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,10}$")]
Parameter = Annotated[int, Field(ge=0, le=(1 << 32) - 1)]
Control = Literal["console", "clean-cache", "flush-check", "lock-ways", "end"]
App = Literal["adversary", "cnn", "duktape", "patterns", "sqlite"]
Eviction = Literal["round-robin", "random", "bit-plru"]


class ComponentImage(Model):
    """What is linked into a component: an object or archive, C files that are compiled for the board, or an
    application of microkernel/programs/apps."""

    elf: Text | None = None
    source: tuple[Text, ...] = ()
    app: App | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if sum((self.elf is not None, bool(self.source), self.app is not None)) != 1:
            raise problem("conflict", "has none of elf, source and app, or more than one", "one of them")
        return self


class Allocation(Model):
    """Memory of a component, with the access rights that the component may request from the MPU or MMU."""

    name: Name
    at: Address | None = None  # [any free place]
    size: Bytes
    spec: Spec = ()  # none: best effort
    rights: Literal["r", "rw", "rx", "rwx"] = "rw"
    shared: Name | None = None  # all entries with this name, of all components, are the same memory

    @model_validator(mode="before")
    @classmethod
    def _one_place(cls, value: object) -> object:
        if isinstance(value, dict) and "at" in value and "shared" in value:
            raise problem("conflict", "has both at and shared: rt_shmget() takes no address", "one of them")
        return value


class Phase(Model):
    """A part of a job and the memory that it accesses, in any order; it may always access the component's
    data."""

    ranges: tuple[Name, ...]
    changes: Annotated[int, Field(ge=0, le=1 << 48)] | None = (
        None  # accesses to another range than the access before
    )


class Component(Model):
    name: Name
    image: ComponentImage
    params: dict[ParameterName, Parameter] = {}  # numbers that the program reads by name
    spec: Spec = ()  # of data and heap, and of memory that calls request without a specification
    stack: Bytes | None = None  # [the board's]
    data: Bytes | None = None  # .data and .bss [as much as the board has room for]
    heap: Bytes | None = None  # of malloc() [none]
    heap_spec: Spec | None = None  # of the heap alone [`spec`]
    memory: tuple[Allocation, ...] = ()
    period: Nanoseconds | None = (
        None  # of its job [none: it runs when it is called, or when no other component runs]
    )
    budget: Nanoseconds | None = None  # of a job, misses included [`period`]
    wcet: Nanoseconds | None = (
        None  # of a job without misses [not known: the budget has to include its misses]
    )
    phases: tuple[Phase, ...] = ()  # of a job [one phase, which accesses everything]
    channels: tuple[Name, ...] = ()  # components that it may call
    priority: Annotated[int, Field(ge=0, le=255)] | None = (
        None  # 0 is the most urgent [rate-monotonic: a shorter period is more urgent]
    )
    expect: Literal["killed"] | None = None  # how it has to be at the end of a run [alive]
    controls: tuple[Control, ...] = ("console",)  # hardware that it may control through system calls


class Hardware(Model):
    """Limits on the hardware that all components use together."""

    system_regions: Annotated[int, Field(ge=1, le=7)] | None = None  # MPU: the kernel's, per component [2]
    eviction: Eviction | None = None  # MPU: which dynamic region a miss evicts [round-robin]
    region: Annotated[Bytes, AfterValidator(_region_size)] | None = None  # MPU: largest dynamic region [any]
    page: Annotated[Bytes, AfterValidator(_region_size)] | None = (
        None  # MMU: size of the largest TLB entry that is not locked [any]
    )
    locked_entries: Annotated[int, Field(ge=0, le=64)] | None = (
        None  # MMU: entries of the TLB that may be locked [all that can be locked]
    )
    ocm: Bytes | None = None  # MMU: on-chip memory for table nodes [all]
    locked_ways: Annotated[int, Field(ge=0, le=64)] | None = None  # MMU: L2 ways locked for table nodes [0]


MPU_KEYS = ("system_regions", "eviction", "region")
MMU_KEYS = ("page", "locked_entries", "ocm", "locked_ways")
SYSTEM_REGIONS = 2  # regions for code and timer (X4)


class ComponentRun(Model):
    for_: Nanoseconds | None = Field(None, alias="for")  # of `bulkhead run` [1 s]


class ComponentSystem(Model):
    bulkhead: FormatVersion
    name: Name
    platform: Text
    hardware: Hardware = Hardware()
    components: tuple[Component, ...] = Field(min_length=1)
    run: ComponentRun = ComponentRun()

    def component(self, name: str) -> Component | None:
        return next((one for one in self.components if one.name == name), None)


def is_component_system(plain: Any) -> bool:
    """Whether a file describes a system of components: it has the key `components`, or a key with nearly that
    name, and no `domains`."""
    if not isinstance(plain, dict) or "domains" in plain:
        return False
    return any(isinstance(key, str) and nearest_of(key, ("components",)) for key in plain)
