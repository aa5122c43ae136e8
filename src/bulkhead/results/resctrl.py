# SPDX-License-Identifier: Apache-2.0
"""Results of `resctrl show` and `resctrl apply`."""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope
from bulkhead.results.problem import ProblemResult


@with_config(CLOSED)
class SharesDescription(TypedDict):
    """Shares in the words of a system file."""

    llc: str
    """Share of the last-level cache, as a system file has it."""
    bandwidth: str
    """Limit of bandwidth, as a system file has it."""


@with_config(CLOSED)
class GroupSettingsResult(SharesDescription):
    """Settings of a group."""

    schemata: dict[str, dict[str, int]]
    """Lines of `schemata`: by resource, then by cache."""
    cpus: list[int] | None
    """CPUs of the group; null: not asked for."""
    occupancy_bytes: dict[str, int]
    """Bytes that it holds, by cache; empty: not known."""


@with_config(CLOSED)
class GroupResult(TypedDict):
    """A group of the kernel, or one that the system file asks for."""

    name: str
    """Its name; empty: the default group."""
    has: GroupSettingsResult | None
    """What the kernel has; null: there is no such group."""
    asks: GroupSettingsResult | None
    """What the system file asks for; null: nothing."""


@with_config(CLOSED)
class ResctrlResult(Envelope):
    """Groups of a running Linux, and what a system file asks for."""

    root: str
    """Directory where resctrl is mounted."""
    groups: list[GroupResult]
    """The groups; empty if the system file or the kernel's tree could not be read."""
    not_expressed: list[ProblemResult]
    """What the kernel cannot express."""
    notices: list[ProblemResult]
    """What the kernel does otherwise than asked for."""
