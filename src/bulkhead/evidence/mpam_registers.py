# SPDX-License-Identifier: Apache-2.0
"""Decodes the registers of an MPAM component for one partition, according to the architecture's manual.

Used by the witness `mpam`. Written from IHI 0099 (9.3, fixed-point fractions; 9.5 and 9.6, registers). It
shares nothing with `core/` or the driver, so that it does not repeat their errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from bulkhead.config.mpam import Resource

CMAX, CMIN, CASSOC = 0x108, 0x110, 0x118
MBW_MIN, MBW_MAX, MBW_WINWD = 0x200, 0x208, 0x220
PRI, MBW_PROP, INTPARTID = 0x400, 0x500, 0x600
CPBM, MBW_PBM = 0x1000, 0x2000  # word 0 of each

_NAMES = {
    CMAX: "MPAMCFG_CMAX",
    CMIN: "MPAMCFG_CMIN",
    CASSOC: "MPAMCFG_CASSOC",
    MBW_MIN: "MPAMCFG_MBW_MIN",
    MBW_MAX: "MPAMCFG_MBW_MAX",
    MBW_WINWD: "MPAMCFG_MBW_WINWD",
    PRI: "MPAMCFG_PRI",
    MBW_PROP: "MPAMCFG_MBW_PROP",
    INTPARTID: "MPAMCFG_INTPARTID",
}
_BITMAP_BYTES = 0x1000
_TOP = 1 << 31  # SOFTLIM of CMAX, HARDLIM of MBW_MAX, EN of MBW_PROP
_INTERNAL = 1 << 16  # INTERNAL bit of INTPARTID

Words = Mapping[int, int]  # value by offset


def register_name(offset: int) -> str:
    for first, name in ((CPBM, "MPAMCFG_CPBM"), (MBW_PBM, "MPAMCFG_MBW_PBM")):
        if first <= offset < first + _BITMAP_BYTES:
            return f"{name}{(offset - first) // 4}"
    return _NAMES.get(offset, f"register {offset:#x}")


def offsets_of(resource: Resource) -> tuple[int, ...]:
    """Registers that an instance has for each partition, according to the platform file."""
    found = [*_words(CPBM, resource.portions)]
    if (capacity := resource.capacity) is not None:
        found += [CMAX] if capacity.maximum else []
        found += [CMIN] if capacity.minimum else []
    found += [CASSOC] if resource.associativity is not None else []
    if (bandwidth := resource.bandwidth) is not None:
        found += [MBW_MIN] if bandwidth.min else []
        found += [MBW_MAX] if bandwidth.max else []
        found += _words(MBW_PBM, bandwidth.portions)
        found += [MBW_PROP] if bandwidth.proportional else []
        found += [MBW_WINWD] if bandwidth.window_writable else []
    found += [PRI] if resource.priority is not None else []
    return tuple(found)


@dataclass(frozen=True)
class Held:
    """The settings that an instance holds for a partition; None: the instance has no such control. A fraction
    stands for a band of values, of which a component may use any: limits here are its upper end, guarantees
    the lower."""

    cache_portions: int | None = None
    cmax: Fraction | None = None
    cmax_soft: bool = False
    cmin: Fraction | None = None
    associativity: Fraction | None = None
    mbw_min: Fraction | None = None
    mbw_max: Fraction | None = None
    mbw_max_hard: bool = False
    bandwidth_portions: int | None = None
    stride: int | None = None  # None: no such control, or its EN bit is 0
    internal_urgency: int | None = None  # a larger value is more urgent, independent of `zero_is_low`
    downstream_urgency: int | None = None
    window_us: Fraction | None = None


def held(resource: Resource, words: Words) -> Held:
    """Decodes the registers in `words`. Raises KeyError with the offset of a register that is missing."""
    capacity, bandwidth, priority = resource.capacity, resource.bandwidth, resource.priority

    def limit(offset: int, bits: int) -> Fraction:
        return Fraction(_field(words[offset], bits) + 1, 1 << bits)

    def guarantee(offset: int, bits: int) -> Fraction:
        return Fraction(_field(words[offset], bits), 1 << bits)

    def at(
        offset: int, bits: int | None, read: Callable[[int, int], Fraction], *, there: bool
    ) -> Fraction | None:
        return read(offset, bits) if there and bits is not None else None

    cache_bits = capacity.bits if capacity else None
    memory_bits = bandwidth.bits if bandwidth else None
    has_cmax, has_cmin = bool(capacity and capacity.maximum), bool(capacity and capacity.minimum)
    has_min, has_max = bool(bandwidth and bandwidth.min), bool(bandwidth and bandwidth.max)
    prop = words[MBW_PROP] if bandwidth and bandwidth.proportional else 0
    pri = words[PRI] if priority else 0
    low = priority is not None and priority.zero_is_low
    return Held(
        cache_portions=_bitmap(words, CPBM, resource.portions),
        cmax=at(CMAX, cache_bits, limit, there=has_cmax),
        cmax_soft=has_cmax and bool(words[CMAX] & _TOP),
        cmin=at(CMIN, cache_bits, guarantee, there=has_cmin),
        associativity=limit(CASSOC, resource.associativity.bits) if resource.associativity else None,
        mbw_min=at(MBW_MIN, memory_bits, guarantee, there=has_min),
        mbw_max=at(MBW_MAX, memory_bits, limit, there=has_max),
        mbw_max_hard=has_max and bool(words[MBW_MAX] & _TOP),
        bandwidth_portions=_bitmap(words, MBW_PBM, bandwidth.portions if bandwidth else None),
        stride=(prop & 0xFFFF) + 1 if prop & _TOP else None,
        internal_urgency=_urgency(pri & 0xFFFF, priority.internal if priority else None, low=low),
        downstream_urgency=_urgency(pri >> 16, priority.downstream if priority else None, low=low),
        window_us=_window(words) if bandwidth and bandwidth.window_writable else None,
    )


def internal_partid(words: Words) -> int | None:
    """The internal PARTID of a narrowed PARTID; None: the register is not marked as internal."""
    value = words[INTPARTID]
    return value & 0xFFFF if value & _INTERNAL else None


def _words(first: int, portions: int | None) -> list[int]:
    return [first + 4 * word for word in range(-(-(portions or 0) // 32))]


def _bitmap(words: Words, first: int, portions: int | None) -> int | None:
    if not portions:
        return None
    value = sum(words[offset] << 8 * (offset - first) for offset in _words(first, portions))
    return value & (1 << portions) - 1


def _field(value: int, bits: int) -> int:
    """A fraction's value: it is left-aligned in bits 15:0."""
    return (value & 0xFFFF) >> 16 - bits


def _urgency(value: int, bits: int | None, *, low: bool) -> int | None:
    if bits is None:
        return None
    most = (1 << bits) - 1
    return value & most if low else most - (value & most)


def _window(words: Words) -> Fraction:
    """The window in us: US_INT in bits 23:8, US_FRAC in 7:0."""
    return Fraction(words[MBW_WINWD] & 0xFFFFFF, 256)
