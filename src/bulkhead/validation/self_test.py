# SPDX-License-Identifier: Apache-2.0
"""The figures that the guest programs `self_test`, `self_test_flows`, `self_test_budgets` and
`self_test_utilization` print on a board's console, as models, and their only entrance: `read_log` takes the
YAML text between a program's marks out of a console log and checks it.

A log is somebody's recording of a serial line: it may be cut, mixed with other output, or anything else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from bulkhead.config.base import FormatVersion, Model, Text
from bulkhead.config.flow_costs import CostNs
from bulkhead.config.problem import Problem
from bulkhead.config.quantity import Bytes, Hertz, Nanoseconds, problem
from bulkhead.config.source import parse_text, read_text
from bulkhead.config.validate import validate
from bulkhead.validation.model import Figure, Latency, Rate

# As in guests/programs/self_test/pattern.c.
PatternName = Literal[
    "sequential reads",
    "sequential writes",
    "whole-line writes",
    "random reads",
    "random writes",
    "same-bank reads",
    "same-bank writes",
    "same-bank updates",
]
Number = Annotated[int, Field(ge=0, le=1 << 40)]
CoreCount = Annotated[int, Field(ge=1, le=64)]

TOLERANCE = 0.05  # of a budget, as of machine/enforcement.py
BEGIN, END = "# self-test: begin", "# self-test: end"
# The hypervisor's tag before each line of a domain; `+`: the row continues a longer line.
_TAG = re.compile(r"\[(?P<name>[^\s\[\]+]+)(?P<more>\+?) +\d{1,9}\.\d{6}\] ?(?P<text>.*)")


class Counter(Model):
    frequency: Hertz  # as CNTFRQ_EL0 says: nothing on the chip measures it


class MeasuredCores(Model):
    count: CoreCount
    frequency: Hertz | None = None  # none: no performance monitors


class Hit(Model):
    """Time from a load that hits the first-level cache to a load that needs its value as address."""

    loop: Text
    ns: Figure


class PatternRate(Model):
    pattern: PatternName
    cores: CoreCount
    mb_s: Figure  # between caches and memory, of all busy cores together


class Delay(Model):
    """Time of a line that the first core reads in order, alone and beside writers."""

    pattern: PatternName
    writers: CoreCount
    alone_ns: Figure
    beside_ns: Figure
    least_mb_s: Figure  # of the slowest writer


class PathTime(Model):
    min: CostNs
    avg: CostNs
    max: CostNs
    median: CostNs
    count: Annotated[int, Field(ge=1, le=1 << 20)]

    @model_validator(mode="after")
    def _ordered(self) -> PathTime:
        if not (self.min <= self.median <= self.max and self.min <= self.avg <= self.max):
            raise problem("conflict", "average and median are not between min and max")
        return self


class Paths(Model):
    hypervisor_call: PathTime
    timer_interrupt: PathTime  # from the deadline to the guest's handler
    own_interrupt: PathTime  # from the request of an interrupt for itself to the handler


class MeasuredBroker(Model):
    """The broker of the system, as the program's parameters say."""

    engine: Literal["cpu-copy", "zdma"]
    wait: Literal["event", "interrupt"]
    isolated: bool = False  # colors keep the hypervisor and the broker apart from all domains


class PathParts(Model):
    """Parts of the path of packets, as `broker.stamps` measures them."""

    hypervisor_call: PathTime
    transport: PathTime
    parse: PathTime
    find_earliest: PathTime
    program_dma: PathTime
    engine: PathTime  # `dma_interrupt` or `between_copies`, with a call of the hypervisor
    finalize: PathTime
    notify: PathTime  # on the program's own core
    wake: PathTime

    def by_name(self) -> dict[str, PathTime]:
        return {name: getattr(self, name) for name in PathParts.model_fields}


class FlowSelfTest(Model):
    """What `self_test_flows` prints."""

    self_test_flows: FormatVersion
    broker: MeasuredBroker
    parts: PathParts


class Interruptions(Model):
    """Time for which the interrupts of a budget stop the first core, while the others write."""

    period: PathTime
    overflow: PathTime | None = None  # none: the overflow stops the core until the next period


class TriedBudget(Model):
    """A budget within which all cores read as fast as they can."""

    events: Annotated[int, Field(ge=1, le=1 << 40)]  # of each core in a period
    period: Annotated[Nanoseconds, Field(ge=1, le=10**9)]
    periods: Number  # of all cores together, for which the hypervisor has counted
    counted: Number  # events
    read_kb_s: Number  # what all cores have read

    @property
    def held(self) -> bool:
        """As `bulkhead limits` says it of bandwidth."""
        expected = self.events * self.periods
        return self.periods > 0 and abs(self.counted - expected) <= TOLERANCE * expected


class CountedCores(Model):
    count: CoreCount


class BudgetSelfTest(Model):
    """What `self_test_budgets` prints."""

    self_test_budgets: FormatVersion
    cores: CountedCores
    interruptions: Interruptions
    periods: tuple[TriedBudget, ...]
    budgets: tuple[TriedBudget, ...]


class UtilizationRate(PatternRate):
    busy_percent: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]  # of the memory


class UtilizationSelfTest(Model):
    """What `self_test_utilization` prints."""

    self_test_utilization: FormatVersion
    cores: CountedCores
    utilization: tuple[UtilizationRate, ...]

    @model_validator(mode="after")
    def _agrees(self) -> UtilizationSelfTest:
        _check_patterns(self.utilization, self.cores.count)
        return self


class BlockRead(Model):
    """Rate of one core that reads a word of each line of a block."""

    size: Bytes
    mb_s: Figure


class EventCount(Model):
    """What an event counter counted while one core accessed so many lines."""

    event: Annotated[int, Field(ge=0, le=0xFFFF)]
    pattern: PatternName
    lines: Annotated[int, Field(ge=1, le=1 << 40)]
    counted: Number


class SelfTest(Model):
    self_test: FormatVersion
    timers: Counter
    cores: MeasuredCores
    hit: Hit
    latency: tuple[Latency, ...] = Field(min_length=2)
    rates: tuple[Rate, ...]
    block_reads: tuple[BlockRead, ...] = ()
    events: tuple[EventCount, ...] = ()
    patterns: tuple[PatternRate, ...]
    delays: tuple[Delay, ...] = ()
    paths: Paths

    @model_validator(mode="after")
    def _agrees(self) -> SelfTest:
        for sizes in ([one.size for one in self.latency], [one.size for one in self.block_reads]):
            if sizes != sorted(set(sizes)):
                raise problem("conflict", "sizes are not in ascending order, each once")
        _check_patterns(self.patterns, self.cores.count)
        return self

    def rate(self, pattern: PatternName, cores: int) -> float | None:
        found = (one.mb_s for one in self.patterns if (one.pattern, one.cores) == (pattern, cores))
        return next(found, None)


AnySelfTest = SelfTest | FlowSelfTest | BudgetSelfTest | UtilizationSelfTest
# By the key that a program prints first; anything else is taken for a `self_test`.
_OTHERS: dict[str, type[FlowSelfTest] | type[BudgetSelfTest] | type[UtilizationSelfTest]] = {
    "self_test_flows": FlowSelfTest,
    "self_test_budgets": BudgetSelfTest,
    "self_test_utilization": UtilizationSelfTest,
}


def _check_patterns(rates: Sequence[PatternRate], cores: int) -> None:
    if any(one.cores > cores for one in rates):
        raise problem("conflict", "a pattern has more busy cores than there are")
    if len({(one.pattern, one.cores) for one in rates}) != len(rates):
        raise problem("conflict", "a pattern occurs twice with the same number of cores")


def read_log(path: Path) -> tuple[AnySelfTest | None, list[Problem]]:
    """The figures of the last self-test in a console log; None if there is any problem."""
    shown = str(path)
    text, source = read_text(path, shown, "surrogateescape")  # a serial line has noise at first
    if text is None:
        return None, source.problems
    found = _between_marks(text.split("\n"))
    if isinstance(found, str):
        return None, [Problem(shown, 0, 0, "", "no-self-test", found)]
    parse_text("\n".join(found), source)
    if source.root is None or source.problems:
        return None, source.problems
    printed = source.root.value if isinstance(source.root.value, dict) else {}
    for key, model in _OTHERS.items():
        if key in printed:
            other, _, problems = validate(source.root, model, shown)
            return other, problems
    test, _, problems = validate(source.root, SelfTest, shown)
    return test, problems


def _between_marks(raw: list[str]) -> list[str] | str:
    """The log with the text of the last self-test alone. Its other lines are empty, so that each line keeps
    its number. A text says why there is none."""
    lines = [_untagged(line.removesuffix("\r")) for line in raw]
    begins = [at for at, (_, _, text) in enumerate(lines) if text.strip() == BEGIN]
    if not begins:
        return f"no line is '{BEGIN}': the log has no self-test"
    begin = begins[-1]
    domain = lines[begin][0]
    found = [""] * len(lines)
    last = begin
    for at in range(begin + 1, len(lines)):
        name, continues, text = lines[at]
        if name != domain:
            continue  # of another domain, or of the hypervisor
        if continues:
            found[last] += text
            continue
        if text.strip() == END:
            return found
        found[at], last = text, at
    return f"no line after '{BEGIN}' is '{END}': the log ends before the self-test"


def _untagged(line: str) -> tuple[str | None, bool, str]:
    """Domain, whether the line continues the one before, and text. A line without tag has no domain."""
    match = _TAG.fullmatch(line)
    return (None, False, line) if match is None else (match["name"], match["more"] == "+", match["text"])
