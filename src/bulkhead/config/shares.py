# SPDX-License-Identifier: Apache-2.0
"""Models of `llc`, `banks` and `bandwidth` in a system file: the share of the memory system that an owner
gets.

system.py uses them for domains and for the hypervisor. planning/mechanism.py decides which mechanism provides
the share; keys that only MPAM can provide are listed here.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator
from pydantic.json_schema import JsonSchemaValue

from bulkhead.config.base import WordModel
from bulkhead.config.mpam import MOST_PORTIONS
from bulkhead.config.problem import quoted
from bulkhead.config.quantity import HEXADECIMAL, Bytes, BytesPerS, Nanoseconds, Share, described, problem

US, MS = 10**3, 10**6
MOST_WINDOW_US = (1 << 16) - 1  # largest value of MPAMCFG_MBW_WINWD
ColorIndex = Annotated[int, Field(ge=0, le=255)]


def _bitmap(value: object) -> object:
    allowed = "a bitmap of portions with at least one bit, as 0xF0F0"
    if isinstance(value, bool) or not isinstance(value, int):
        raise problem("wrong-type", f"is {described(value)}", allowed)
    if value == 0:
        raise problem("out-of-range", "names no portion, so the domain could never allocate a line", allowed)
    if not 0 < value < 1 << MOST_PORTIONS:
        raise problem("out-of-range", f"{quoted(hex(value))} is out of range", allowed)
    return value


Bitmap = Annotated[
    int, BeforeValidator(_bitmap), WithJsonSchema({"type": "integer", "exclusiveMinimum": 0}), HEXADECIMAL
]


class Colored(WordModel):
    """Colors of one mechanism. Without `colors` and `share`: `auto`."""

    words: ClassVar[dict[str, JsonSchemaValue]] = {"auto": {}}
    one_of: ClassVar[tuple[str, ...]] = ("colors", "share")
    colors: tuple[ColorIndex, ...] | None = Field(default=None, min_length=1)
    share: Share | None = None


class Llc(Colored):
    """A part of the last-level cache, by MPAM or by coloring. The keys after `size` need MPAM."""

    one_of: ClassVar[tuple[str, ...]] = ("colors", "share", "size", "portions")
    also: ClassVar[tuple[str, ...]] = ("max", "min", "associativity")
    size: Bytes | None = None
    portions: Bitmap | None = None  # exactly these
    shared: bool = False  # other domains with `shared` may name some of these portions
    max: Share | None = None  # maximum of the capacity
    soft: bool = False  # the domain may exceed the maximum while no other partition needs the capacity
    min: Share | None = None  # capacity that other partitions cannot replace
    associativity: Share | None = None  # largest part of each set's ways that the domain may fill

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.soft and self.max is None:
            raise problem("missing-key", "`soft` belongs to a maximum, and there is no `max`", "`max`")
        if self.shared and self.portions is None:
            raise problem(
                "missing-key",
                "`shared` belongs to named portions, and there are no `portions`",
                "`portions`",
            )
        if self.min is not None and self.max is not None and self.min > self.max:
            raise problem("conflict", "has a minimum above its maximum", "`min` of at most `max`")
        return self

    @property
    def auto(self) -> bool:
        """Whether no amount is given, so that the planner decides."""
        return all(getattr(self, key) is None for key in self.one_of)


class Banks(Colored):
    """DRAM banks."""


AUTO_LLC = Llc.model_validate("auto")
AUTO_BANKS = Banks.model_validate("auto")


class Bandwidth(WordModel):
    """What a domain may use of the memory system. Without budget and events: `unlimited`.

    Shares are of a component's maximum if MPAM provides them, else of the platform's guaranteed bandwidth.
    """

    words: ClassVar[dict[str, JsonSchemaValue]] = {"unlimited": {}}
    one_of: ClassVar[tuple[str, ...]] = ("budget", "events", "read", "read_events", "max")
    also: ClassVar[tuple[str, ...]] = ("min", "priority", "portions", "stride")
    min: Share | None = None  # below this rate, the domain's requests are preferred
    max: Share | None = None  # above this rate, other domains' requests are preferred
    hard: bool = False  # at the maximum the domain is stopped
    priority: Annotated[int, Field(ge=0, le=(1 << 16) - 1)] | None = None  # 0 is the most urgent
    # Further controls of MPAM, for experiments.
    portions: Bitmap | None = None  # portions of bandwidth
    stride: Annotated[int, Field(ge=1, le=1 << 16)] | None = None  # a share in proportion to 1 / stride
    window: Nanoseconds | None = None  # accounting window, in whole microseconds
    budget: BytesPerS | None = None
    read: BytesPerS | None = None  # with `counts: each`, together with `write`
    write: BytesPerS | None = None
    events: Annotated[int, Field(ge=1, le=(1 << 31) - 1)] | None = None
    read_events: Annotated[int, Field(ge=1, le=(1 << 31) - 1)] | None = None  # as `read` and `write`
    write_events: Annotated[int, Field(ge=1, le=(1 << 31) - 1)] | None = None
    per: Literal["domain", "vcpu"] = "domain"
    period: Nanoseconds = 1 * MS
    counts: Literal["auto", "refills", "writebacks", "each", "sum"] = "auto"
    slack: Annotated[int, Field(ge=0, le=(1 << 31) - 1)] | None = None  # of `counts: sum`, in events
    # A second budget, of the platform's `pmu.access_event`: accesses past the caches, which cause no refills.
    accesses: Annotated[int, Field(ge=1, le=(1 << 31) - 1)] | None = None
    # The budget if instructions are counted in place of memory events, as on the emulator [`events`].
    instructions: Annotated[int, Field(ge=1, le=(1 << 31) - 1)] | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.hard and self.max is None:
            raise problem("missing-key", "`hard` belongs to a maximum, and there is no `max`", "`max`")
        if self.window is not None and not (
            self.window % US == 0 and 1 <= self.window // US <= MOST_WINDOW_US
        ):
            cause = f"a window of {self.window} ns cannot be set"
            raise problem("out-of-range", cause, f"whole microseconds, 1 us to {MOST_WINDOW_US} us")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise problem("conflict", "has a minimum above its maximum", "`min` of at most `max`")
        return self

    @property
    def unlimited(self) -> bool:
        """Whether the domain has no budget; it may still have a limit by MPAM."""
        return self.budget is None and self.events is None and not self.apart

    @property
    def shares(self) -> tuple[str, ...]:
        """Keys that are given and that the platform's mechanism enforces; EL2 enforces budgets on every
        platform."""
        keys = ("min", "max", "priority", "portions", "stride", "window")
        return tuple(key for key in keys if getattr(self, key) is not None)

    @property
    def by_mpam_alone(self) -> tuple[str, ...]:
        """Keys that are given and for which only MPAM has a control."""
        return tuple(key for key in ("portions", "stride", "window") if getattr(self, key) is not None)

    @property
    def apart(self) -> bool:
        """Whether there is one budget for lines fetched and another for lines written."""
        return self.read is not None or self.read_events is not None


UNLIMITED = Bandwidth.model_validate("unlimited")
