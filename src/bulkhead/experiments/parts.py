# SPDX-License-Identifier: Apache-2.0
"""Models of a part of an experiment, in the file and with a point's values.

A file is checked against `Part`, in which any value may still be `$name`; each point's parts against
`PointPart`. The machine checks what the values mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from bulkhead.config.base import Model, Text
from bulkhead.config.problem import key_text, no_such, quoted
from bulkhead.config.program_parameters import parameters_of_workload, workloads
from bulkhead.config.quantity import Empty, described, problem
from bulkhead.machine.job import JobPart

LONGEST_RUN_PS = 10**14  # 100 s
REFERENCE = re.compile(r"\$(\w+(?:\.[A-Za-z_]\w*)*)", re.ASCII)


def _filled(value: object) -> object:
    if isinstance(value, Empty):
        raise problem("wrong-type", "has no value", "a value, or `$name`")
    return value


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 64:
        raise problem("wrong-type", f"is {described(value)}", "a whole number from 0 on")
    return value


Value = Annotated[Any, BeforeValidator(_filled)]
Number = Annotated[int, BeforeValidator(_number)]


Half = Literal["low", "high"]  # of the platform's colors (machine/placement.py)


class Part(Model):
    """A part in the file."""

    name: Text
    core: Value
    memory: Value
    measured: bool = False
    when: dict[Text, Any] = {}
    colors: Value = None
    colors_when: dict[Text, Any] = {}  # only at points with these values
    banks: Value = None  # bank colors
    banks_when: dict[Text, Any] = {}
    pattern: Value = None
    translation: Value = None  # machine/spaces.py
    tables: Value = None
    stage2_tables: Value = None
    # Like those of a domain in a system file (machine/regulation.py):
    criticality: Value = None
    bandwidth: Value = None
    bandwidth_when: dict[Text, Any] = {}  # only at points with these values
    partition: Value = None  # by name, if the point has it (partitioned.py)
    # For a program:
    workload: Value = None
    params: dict[Text, Value] = {}
    endless: Value = None
    # For a generator (machine/generator.h):
    kind: Value = None
    walks: Value = None
    stride_bytes: Value = None
    access_bytes: Value = None
    instructions: Value = None
    shuffled: Value = None
    seed: Value = None
    start_ps: Value = None
    period_ps: Value = None

    def given(self) -> JobPart:
        """The keys that the file has."""
        return {key: getattr(self, key) for key in Part.model_fields if key in self.model_fields_set}


class PointPart(Model):
    """A part in a job; keys that are left out have the machine's defaults."""

    name: str
    core: Annotated[Number, Field(lt=64)]
    memory_bytes: Annotated[Number, Field(gt=0, le=1 << 40)]
    colors: tuple[Number, ...] | Half | None = None
    banks: tuple[Number, ...] | Half | None = None
    pattern: Text | None = None
    translation: Literal["blocks", "pages", "none"] = "blocks"
    tables: Literal["cached", "uncached"] = "cached"
    stage2_tables: Literal["own", "any", "pool", "colors", "chip", "chip-cached"] = "own"
    criticality: Literal["rt", "best-effort"] = "best-effort"
    bandwidth: dict[str, Any] | str | None = None  # machine/regulation.py checks it
    partition: Text | None = None
    workload: Text | None = None
    params: dict[Text, Number] = {}
    endless: bool = False
    kind: Text | None = None
    walks: Number = 0
    stride_bytes: Annotated[Number, Field(gt=0, lt=1 << 32)] = 64
    access_bytes: Annotated[Number, Field(gt=0, lt=1 << 32)] = 8
    instructions: Annotated[Number, Field(gt=0, lt=1 << 32)] = 1
    shuffled: bool = False
    seed: Number = 1
    start_ps: Annotated[Number, Field(le=LONGEST_RUN_PS)] = 0
    period_ps: Annotated[Number, Field(le=LONGEST_RUN_PS)] = 0


def problems_of(part: JobPart) -> Iterator[str]:
    """Errors of a point's part, with their keys."""
    ready = {key: tuple(value) if isinstance(value, list) else value for key, value in part.items()}
    try:
        PointPart.model_validate(ready)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            where = key_text(tuple(step for step in item["loc"] if step != "[key]"))
            yield f"{where}: {quoted(str(item['input']))}: {item['msg']}"
    workload = part.get("workload")
    if isinstance(workload, str) and parameters_of_workload(workload) is None:
        yield f"workload: {no_such('workload', workload, workloads())}"
    if ("workload" in part) == ("kind" in part):
        yield "needs either `workload` or the kind of a generator"


def references(value: Any) -> Iterator[str]:
    """Names of the point's values that a value refers to, at any depth."""
    if isinstance(value, str):
        yield from REFERENCE.findall(value)
    elif isinstance(value, dict):
        for one in value.values():
            yield from references(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from references(one)
