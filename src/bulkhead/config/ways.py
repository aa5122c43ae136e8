# SPDX-License-Identifier: Apache-2.0
"""Flows by direction (F11): a way back is analyzed, admitted and counted like a flow of its own.

The numbers of directions here are those of the hypervisor and of its status page. Planning, packaging and
runs use directions; the file has flows.
"""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.config.problem import KeyPath
from bulkhead.config.system import Flow


class Way(Flow):
    """One direction of a flow. The way back of flow NAME is called `NAME.back`."""

    number: int  # number of the flow in the file
    other: int | None = None  # number of the other direction, if it carries payload
    answers: bool = False  # whether it is the way back

    @property
    def key(self) -> KeyPath:
        """Key of the file that describes it."""
        return ("flows", self.number, "back") if self.answers else ("flows", self.number)


def ways_of(flows: Sequence[Flow]) -> tuple[Way, ...]:
    """All flows in the order of the file, then their ways back."""
    backs = [number for number, flow in enumerate(flows) if flow.back is not None]
    others = {number: len(flows) + place for place, number in enumerate(backs)}
    there = [_way(flow, number=number, other=others.get(number)) for number, flow in enumerate(flows)]
    return (*there, *(_back(flows[number], number) for number in backs))


def _way(flow: Flow, **changes: object) -> Way:
    values = {name: getattr(flow, name) for name in Flow.model_fields}
    return Way.model_construct(**(values | changes))


def _back(flow: Flow, number: int) -> Way:
    assert flow.back is not None
    return _way(
        flow,
        name=f"{flow.name}.back",
        from_=flow.to,
        to=flow.from_,
        size=flow.back.size,
        period=flow.back.period,
        deadline=flow.back.deadline,
        transfers=flow.back.transfers,
        number=number,
        other=number,
        answers=True,
    )
