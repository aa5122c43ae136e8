# SPDX-License-Identifier: Apache-2.0
"""Flows by direction (F11): a way back is analyzed, admitted and counted as a flow of its own, too. The
hypervisor knows directions by their numbers here, as does its status page.

Planning, packaging and runs ask for them; the file has flows.
"""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.config.problem import KeyPath
from bulkhead.config.system import Flow


class Way(Flow):
    """One direction of a flow. A way back is named after its flow: `NAME.back`."""

    number: int  # of the flow in the file
    other: int | None = None  # number of the other direction, if that has payload, too
    answers: bool = False  # it is the way back

    @property
    def key(self) -> KeyPath:
        """Where the file says what it is."""
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
