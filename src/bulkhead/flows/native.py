# SPDX-License-Identifier: Apache-2.0
"""core/'s analysis of flows, compiled: builds the module when it is out of date, and loads it.

It needs core/ and nothing else of the host build, so that this takes seconds, once. Times of sets and
outcomes are in half nanoseconds.
"""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from bulkhead.env.errors import MissingTool
from bulkhead.env.paths import build_dir

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.uint64]

TARGET = "bulkhead_flows"

Declared = tuple[
    int, int, int, int, int
]  # packet bytes, period, deadline (ns), transfers (0: by chunk), sender
Task = tuple[int, int, int, int, int, int, bool]  # struct flow_task of core/flow.h


class Outcome(Protocol):
    """How a test or a search ended (core/flow_test.h)."""

    verdict: str  # schedulable, overloaded, late, undecided, impossible; goes-on: of too few points
    bytes_per_s: int
    at: int
    demand: int
    points: int


class FlowSet(Protocol):
    """A set of flows that was transformed. What is out of range is a ValueError."""

    dma_fixed: int

    def tasks(self) -> list[Task]: ...

    def check(self, bytes_per_s: int, points: int = ...) -> Outcome: ...

    def smallest_bandwidth(self) -> Outcome: ...

    def slack(self, bytes_per_s: int, members: Sequence[int]) -> tuple[int, bool]: ...


class Analysis(Protocol):
    """The module (bindings/flows/module.cpp)."""

    MAX_FLOWS: int
    MAX_DOMAINS: int
    MAX_NS: int
    MAX_BYTES: int
    MAX_BYTES_PER_S: int
    Refused: type[ValueError]  # with a text, a code and the number of the flow as arguments

    def FlowSet(  # noqa: N802
        self, flows: Sequence[Declared], costs: Mapping[str, int], senders: int, chunk_bytes: int
    ) -> FlowSet: ...

    def with_control(self, data: Declared, receiver: int) -> list[Declared]:
        """A flow and its reserved control packets: as many tasks as model.KINDS has, in that order."""

    def test_batch(
        self,
        packet_bytes: Column,
        period_ns: Column,
        deadline_ns: Column,
        sender: Column,
        *,
        costs: Mapping[str, int],
        senders: int,
        chunk_bytes: int,
        bytes_per_s: int,
    ) -> dict[str, NDArray[Any]]: ...


@cache
def analysis() -> Analysis:
    """Raises BuildFailed, or MissingTool where it cannot be built."""
    from bulkhead.env.native import ensure_built

    ensure_built(["host"], [TARGET])
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    return cast("Analysis", _load(build_dir() / "host" / "bindings" / "flows" / f"_flows{suffix}"))


def _load(path: Path) -> object:
    if not path.is_file():
        raise MissingTool("the compiled analysis of flows", "nanobind", f"{path} was not built")
    spec = importlib.util.spec_from_file_location("_flows", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["_flows"] = module
    return module
