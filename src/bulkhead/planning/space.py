# SPDX-License-Identifier: Apache-2.0
"""The color space of a system on a platform: which mechanisms are on, and their address bits.

Cross-checks and the planner use these functions, so that they use the same colors.
"""

from __future__ import annotations

from fractions import Fraction

from bulkhead.config.platform import Platform
from bulkhead.config.shares import Llc
from bulkhead.config.system import System
from bulkhead.geometry import ColorSpace, GeometryError, bank_color_bits, color_space, llc_color_bits
from bulkhead.planning.mechanism import llc_mechanism


def llc_colored(system: System, platform: Platform) -> bool:
    return llc_mechanism(system, platform) == "coloring"


def banks_colored(system: System) -> bool:
    return system.isolation.banks == "coloring"


def platform_llc_bits(platform: Platform, *, color_l1: bool) -> tuple[int, ...]:
    """Color bits of the platform's last-level cache. Raises GeometryError if it cannot be colored."""
    if platform.llc is None:
        raise GeometryError("the platform describes no last-level cache (l2 or l3)")
    l1d = platform.l1d.shape() if platform.l1d is not None else None
    bits = llc_color_bits(platform.llc.shape(), l1d, color_l1=color_l1)
    if not bits:
        raise GeometryError("the last-level cache has no set-index bit above the page offset")
    return bits


def platform_bank_bits(platform: Platform) -> tuple[int, ...]:
    """Address bits that select DRAM banks. Raises GeometryError if they are hashed or not described."""
    dram = platform.dram
    mapping = (*dram.mapping.bank_group, *dram.mapping.bank) if dram is not None else ()
    if not mapping:
        raise GeometryError("the platform describes no DRAM bank bits (dram.mapping.bank)")
    bits = bank_color_bits(mapping)
    if not bits:
        raise GeometryError("all DRAM bank bits are inside a page, so a mapping cannot choose them")
    return bits


def space_for(system: System, platform: Platform) -> ColorSpace:
    """The combined color space of the mechanisms in `isolation`. Raises GeometryError if the platform has no
    such colors."""
    llc = (
        platform_llc_bits(platform, color_l1=system.isolation.color_l1)
        if llc_colored(system, platform)
        else ()
    )
    banks = platform_bank_bits(platform) if banks_colored(system) else ()
    return color_space(llc, banks)


def share_of(llc: Llc, platform: Platform) -> Fraction | None:
    """The requested share of the cache, from `share`, `size` or `colors`; None: none is requested."""
    assert platform.llc is not None
    if llc.size is not None:
        return Fraction(llc.size, platform.llc.size)
    if llc.colors is not None:
        return Fraction(len(llc.colors), color_count(platform))
    return llc.share


def color_count(platform: Platform) -> int:
    """Number of colors of the cache. Raises GeometryError if it cannot be colored (crosscheck_colors.py)."""
    return 1 << len(platform_llc_bits(platform, color_l1=False))
