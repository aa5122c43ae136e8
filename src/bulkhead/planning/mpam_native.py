# SPDX-License-Identifier: Apache-2.0
"""Core's MPAM settings and division of caches, compiled: builds the module when it is out of date, and loads
it.

A resource of the platform file becomes core's features; settings are converted in both directions. This
module decides nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Protocol, cast

from bulkhead.config.mpam import Resource
from bulkhead.env.compiled import compiled_path, core_modules, load_compiled
from bulkhead.planning.mpam import Settings

MODULE = "_mpam"
U32_MAX = (1 << 32) - 1
_WORDS = 32  # words of a bitmap: MPAM_PORTION_WORDS

Pair = tuple[int, int]

# enum mpam_control
CACHE_PORTIONS, CMAX, CMAX_SOFT, CMIN, ASSOCIATIVITY, MBW_MIN, MBW_MAX, MBW_MAX_HARD = (
    1 << n for n in range(8)
)
BANDWIDTH_PORTIONS, PROPORTIONAL, INTERNAL_PRIORITY, DOWNSTREAM_PRIORITY, WINDOW = (
    1 << n for n in range(8, 13)
)

# enum mpam_refusal
(
    ACCEPTED,
    NO_CONTROL,
    NO_PORTIONS,
    PORTION_RANGE,
    SHARE_TOO_SMALL,
    SHARE_TOO_LARGE,
    VALUE_RANGE,
    MIN_ABOVE_MAX,
    WITHOUT_MAXIMUM,
) = range(9)

# enum mpam_division_refusal
DIVIDED, EMPTY, RANGE, OVERLAP, TOO_SMALL, EXHAUSTED = range(6)

# Settings with a value: their name in the module, and the control that requests them.
_SHARES = {"cmax": CMAX, "cmin": CMIN, "associativity": ASSOCIATIVITY, "mbw_min": MBW_MIN, "mbw_max": MBW_MAX}
_BITMAPS = {
    "cache_portions": ("cache", CACHE_PORTIONS),
    "bandwidth_portions": ("bandwidth", BANDWIDTH_PORTIONS),
}
_NUMBERS = {
    "stride": PROPORTIONAL,
    "internal_priority": INTERNAL_PRIORITY,
    "downstream_priority": DOWNSTREAM_PRIORITY,
    "window_us": WINDOW,
}
_FLAGS = {"cmax_soft": CMAX_SOFT, "mbw_max_hard": MBW_MAX_HARD}


class NativeFeatures(Protocol):
    """struct mpam_features, as far as controls are concerned."""

    cache_portions: int
    capacity_bits: int
    has_cmax: bool
    has_cmin: bool
    has_soft_cmax: bool
    associativity_bits: int
    bandwidth_bits: int
    has_min: bool
    has_max: bool
    has_proportional: bool
    window_writable: bool
    bandwidth_portions: int

    def internal(self, bits: int, low: bool) -> None: ...
    def downstream(self, bits: int, low: bool) -> None: ...


class NativeSettings(Protocol):
    """struct mpam_settings. Shares are pairs (numerator, denominator), bitmaps are lists of words."""

    asked: int


class Result(Protocol):
    refusal: int
    request: int
    other: int
    needed: int
    left: int


class Division(Protocol):
    """Takes requests in the order of owners, then gives each owner's part."""

    result: Result

    def rest(self, *, realtime: bool, hypervisor: bool) -> None: ...
    def share(self, share: Pair, *, hypervisor: bool) -> None: ...
    def exact(self, portions: Sequence[int], *, shared: bool) -> None: ...
    def by_portions(self, of: int) -> None: ...
    def by_capacity(self, width: int) -> None: ...
    def steps(self, owner: int) -> int: ...
    def portions(self, owner: int) -> Sequence[int]: ...


class NativeMpam(Protocol):
    """The module (bindings/mpam/module.cpp). Values out of range raise ValueError."""

    def Features(self) -> NativeFeatures: ...  # noqa: N802
    def Settings(self) -> NativeSettings: ...  # noqa: N802
    def Division(self) -> Division: ...  # noqa: N802
    def check(self, features: NativeFeatures, settings: NativeSettings) -> Pair: ...
    def got(self, features: NativeFeatures, settings: NativeSettings) -> NativeSettings: ...
    def writes(
        self, features: NativeFeatures, settings: NativeSettings, ris: int, partid: int
    ) -> list[Pair]: ...
    def guarantees_sum(self, width: int, shares: Sequence[Pair]) -> int: ...
    def limit(self, share: Pair, width: int) -> tuple[bool, Pair]: ...
    def guarantee(self, share: Pair, width: int) -> tuple[bool, Pair]: ...


@cache
def mpam() -> NativeMpam:
    """The compiled module. Raises BuildFailed, or MissingTool if it cannot be built."""
    if MODULE not in sys.modules:
        core_modules()
    return load_built()


def load_built() -> NativeMpam:
    """The module in a process whose parent has built it; nothing is built. Raises MissingTool."""
    return cast(
        "NativeMpam", load_compiled(module_path(), MODULE, "the compiled settings of MPAM", "was not built")
    )


def module_path() -> Path:
    return compiled_path("bindings/mpam", MODULE)


def pair_of(share: Fraction) -> Pair:
    return share.numerator, share.denominator


def words_of(bitmap: int) -> list[int]:
    return [bitmap >> 32 * word & U32_MAX for word in range(_WORDS)]


def bitmap_of(words: Sequence[int]) -> int:
    return sum(word << 32 * number for number, word in enumerate(words))


def features_of(resource: Resource) -> NativeFeatures:
    """Core's features of a resource of the platform file. `version` is not needed: the file has been
    checked."""
    found = mpam().Features()
    found.cache_portions = resource.portions or 0
    if (capacity := resource.capacity) is not None:
        found.capacity_bits = capacity.bits
        found.has_cmax, found.has_cmin = capacity.maximum, capacity.minimum
        found.has_soft_cmax = capacity.soft
    if resource.associativity is not None:
        found.associativity_bits = resource.associativity.bits
    if (bandwidth := resource.bandwidth) is not None:
        found.bandwidth_bits = bandwidth.bits or 0
        found.has_min, found.has_max = bandwidth.min, bandwidth.max
        found.has_proportional = bandwidth.proportional
        found.window_writable = bandwidth.window_writable
        found.bandwidth_portions = bandwidth.portions or 0
    if (priority := resource.priority) is not None:
        found.internal(priority.internal or 0, priority.zero_is_low)
        found.downstream(priority.downstream or 0, priority.zero_is_low)
    return found


def to_native(settings: Settings) -> NativeSettings:
    found = mpam().Settings()
    asked = 0
    for name, control in _SHARES.items():
        if (share := getattr(settings, name)) is not None:
            setattr(found, name, pair_of(share))
            asked |= control
    for name, (field, control) in _BITMAPS.items():
        if (bitmap := getattr(settings, name)) is not None:
            setattr(found, field, words_of(bitmap))
            asked |= control
    for name, control in _NUMBERS.items():
        if (number := getattr(settings, name)) is not None:
            setattr(found, name, number)
            asked |= control
    for name, control in _FLAGS.items():
        asked |= control if getattr(settings, name) else 0
    found.asked = asked
    return found


def from_native(found: NativeSettings) -> Settings:
    values: dict[str, object] = {}
    for name, control in _SHARES.items():
        if found.asked & control:
            values[name] = Fraction(*getattr(found, name))
    for name, (field, control) in _BITMAPS.items():
        if found.asked & control:
            values[name] = bitmap_of(getattr(found, field))
    for name, control in _NUMBERS.items():
        if found.asked & control:
            values[name] = getattr(found, name)
    for name, control in _FLAGS.items():
        values[name] = bool(found.asked & control)
    return Settings(**values)  # type: ignore[arg-type]


def refusal_of(resource: Resource, settings: Settings) -> Pair:
    """Core's refusal and the control that it concerns; (ACCEPTED, 0) if the settings are accepted."""
    return mpam().check(features_of(resource), to_native(settings))


def got(resource: Resource, settings: Settings) -> Settings:
    """The settings that the hardware realizes for accepted ones: all controls that it has, rounded."""
    return from_native(mpam().got(features_of(resource), to_native(settings)))


def writes_of(resource: Resource, settings: Settings, ris: int, partid: int) -> list[Pair]:
    """Offsets and values of the 32-bit register writes that set accepted settings for a partition."""
    return mpam().writes(features_of(resource), to_native(settings), ris, partid)
