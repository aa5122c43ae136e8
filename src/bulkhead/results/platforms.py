# SPDX-License-Identifier: Apache-2.0
"""Result of `platforms`."""

from __future__ import annotations

from typing import Literal, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope

Origin = Literal["fitted", "assumed", "machine", ""]


@with_config(CLOSED)
class ParameterResult(TypedDict):
    """A value of the platform file."""

    key: str
    """Path of its key."""
    value: object
    """The value; its type is that of the key (platforms.md)."""
    fitted: bool
    """It was fitted to measured facts."""
    origin: Origin
    """Fitted, assumed, measured on the simulated machine; empty: from its source."""
    source: str
    """Document that it is from."""


@with_config(CLOSED)
class FactResult(TypedDict):
    """A measured fact of the board, and the value that the machine gives. It has a target or a range."""

    fact: str
    """Name of the fact."""
    unit: str
    """Its unit."""
    target: NotRequired[float]
    """The measured value, if it is a single one."""
    low: NotRequired[float]
    """Lower end of the measured range, if it is a range."""
    high: NotRequired[float]
    """Upper end of the measured range, if it is a range."""
    measured: NotRequired[float]
    """Value of the simulated machine; left out: it has no model for it."""
    parameters: list[str]
    """Parameters that were free in the fit."""
    compared: bool
    """It is only compared: no parameter was fitted to it."""
    follows: NotRequired[str]
    """Another fact from which it follows by arithmetic."""
    source: NotRequired[str]
    """Document that it is from."""


@with_config(CLOSED)
class PlatformResult(TypedDict):
    """A platform."""

    name: str
    """Name of the platform."""
    description: str
    """The board, in words."""
    cores: int
    """Number of cores."""
    core_type: str
    """Type of the cores."""
    memory_bytes: int
    """Size of the memory."""
    llc_color_bits: list[int]
    """Address bits that make the color; empty: the cache cannot be colored."""
    colors: int
    """Number of colors of the last-level cache."""
    granule_bytes: int | None
    """Bytes in sequence that have one color; null: there are no colors."""
    not_colorable: str | None
    """Why the last-level cache cannot be colored; null: it can."""
    llc_divided_by: Literal["mpam", "coloring"] | None
    """What divides the last-level cache; null: nothing does."""
    bootable: bool
    """The emulator can boot it."""
    not_bootable: str | None
    """Why no system can be booted on it; null: systems can."""
    parameters: NotRequired[list[ParameterResult]]
    """Every value of the file, if a platform is named."""
    facts: NotRequired[list[FactResult]]
    """Measured facts that parameters were fitted to, if a platform is named."""


@with_config(CLOSED)
class PlatformsResult(Envelope):
    """The platforms, or one of them with the sources of its numbers."""

    platforms: list[PlatformResult]
    """The platforms that could be read."""
