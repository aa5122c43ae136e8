# SPDX-License-Identifier: Apache-2.0
"""Flows by direction (F11) and receiver (F7): a way back, and each receiver of a multicast flow, is analyzed,
admitted and counted like a flow of its own.

The numbers of directions here are those of the hypervisor and of its status page. Planning, packaging and
runs use directions; the file has flows.
"""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.config.problem import KeyPath
from bulkhead.config.system import Flow


class Way(Flow):
    """One direction of a flow. The way back of flow NAME is called `NAME.back`, a multicast flow's part for a
    receiver `NAME.RECEIVER`."""

    number: int  # number of the flow in the file
    declared: str  # name without the receiver
    group: int | None = None  # number of the multicast flow, counted by themselves; None: it is none
    other: int | None = None  # number of the other direction, if it carries payload
    answers: bool = False  # whether it is the way back

    @property
    def to(self) -> str:
        """The receiver."""
        return self.receivers[0]

    @property
    def key(self) -> KeyPath:
        """Key of the file that describes it."""
        return ("flows", self.number, "back") if self.answers else ("flows", self.number)


def ways_of(flows: Sequence[Flow]) -> tuple[Way, ...]:
    """All flows in the order of the file, each with its receivers in order, then the ways back."""
    there = [way for number in range(len(flows)) for way in _legs(flows, number)]
    answered = [place for place, way in enumerate(there) if way.back is not None]
    for place, there_place in enumerate(answered):
        there[there_place] = there[there_place].model_copy(update={"other": len(there) + place})
    return (*there, *(_back(there[place], place) for place in answered))


def groups_of(flows: Sequence[Flow]) -> dict[str, int]:
    """Number of each multicast flow, by name."""
    names = [flow.name for flow in flows if len(flow.receivers) > 1]
    return {name: number for number, name in enumerate(names)}


def _legs(flows: Sequence[Flow], number: int) -> list[Way]:
    flow = flows[number]
    group = groups_of(flows).get(flow.name)
    if group is None:
        return [_way(flow, number=number, declared=flow.name)]
    return [
        _way(
            flow,
            name=f"{flow.name}.{to}",
            receivers=(to,),
            number=number,
            declared=flow.name,
            group=group,
            connections=1,
            back=None,
        )
        for to in flow.receivers
    ]


def _way(flow: Flow, **changes: object) -> Way:
    values = {name: getattr(flow, name) for name in Flow.model_fields}
    return Way.model_construct(**(values | changes))


def _back(there: Way, place: int) -> Way:
    assert there.back is not None
    return _way(
        there,
        name=f"{there.name}.back",
        declared=f"{there.name}.back",
        from_=there.to,
        receivers=(there.from_,),
        size=there.back.size,
        period=there.back.period,
        deadline=there.back.deadline,
        transfers=there.back.transfers,
        number=there.number,
        other=place,
        answers=True,
    )
