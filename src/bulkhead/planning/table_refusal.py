# SPDX-License-Identifier: Apache-2.0
"""The refusal of a specification of stage-2 tables, in the terms of the system file: the domain, the range,
the specification, the memory that is used up and by which owner, and what would help.

table_memory.py calls this after core/ has refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bulkhead.config.platform import Platform
from bulkhead.config.system import Domain, Region
from bulkhead.mxu import native
from bulkhead.units import size_text

if TYPE_CHECKING:
    from bulkhead.planning.table_memory import TableResource

Holder = tuple[str, int]  # a name and bytes


@dataclass(frozen=True)
class Refused:
    domain: Domain
    region: Region
    spec: tuple[str, ...]
    platform: Platform
    lacking: int
    needed: int
    left: int

    @property
    def text(self) -> str:
        asked = f"spec: {', '.join(self.spec)}" if self.region.spec else "table_placement: ocm"
        return f"'{self.domain.name}', {size_text(self.region.size)} at {self.region.at:#x} [{asked}]"


def refusal(refused: Refused, resources: Sequence[TableResource], *, llc_is_colored: bool) -> tuple[str, str]:
    """Cause of the refusal, and what would help."""
    if refused.lacking == native.LOCKED_ENTRIES:
        cause = f"{refused.text}: cores of '{refused.platform.name}' have no TLB entries that can be locked"
        return cause, "`l2` or `l3`, which place the tables that a TLB miss reads"
    colored = _named(resources, "colored memory for tables")
    on_chip = _named(resources, "on-chip memory")
    if colored is None and on_chip is None:
        return f"{refused.text}: {_nothing(refused, llc_is_colored)}", _instead(llc_is_colored)
    too_slow = on_chip is not None and refused.left < min(on_chip.left, refused.needed)
    if refused.lacking == native.OCM_BYTES and on_chip is not None and not too_slow:
        # On the chip are all tables of a domain, because its walks bypass the caches.
        return (
            f"{refused.text} takes {size_text(refused.needed)} of on-chip memory for all stage-2 tables of "
            f"the domain, and of {size_text(on_chip.limit)} {size_text(refused.left)} {_are(refused.left)} "
            f"left: {_used(on_chip)}",
            _less_tables(llc_is_colored),
        )
    if refused.lacking == native.COLORED_BYTES and colored is not None:
        return (
            f"{refused.text} takes {size_text(refused.needed)} of stage-2 tables, and of "
            f"{size_text(colored.limit)} in colors of their own {size_text(refused.left)} "
            f"{_are(refused.left)} left: {_used(colored)}",
            "more colors in `hypervisor.tables.colors`, fewer for others, or a smaller region with `spec`",
        )
    return f"{refused.text}: {_too_slow(refused, on_chip)}", _instead(llc_is_colored)


def _named(resources: Sequence[TableResource], name: str) -> TableResource | None:
    return next((one for one in resources if one.name == name), None)


def _nothing(refused: Refused, llc_is_colored: bool) -> str:
    chip = f"'{refused.platform.name}' has no memory on the chip"
    cache = "all colors of the last cache are taken" if llc_is_colored else "its last cache is not colored"
    return f"{chip}, and {cache}"


def _too_slow(refused: Refused, on_chip: TableResource | None) -> str:
    if "l2" in refused.spec and on_chip is not None:
        return "tables cannot stay in L2: on-chip memory is slower, and no colors of L2 are left for tables"
    return "no memory for tables can keep this promise"


def _instead(llc_is_colored: bool) -> str:
    if llc_is_colored:
        return "a color for tables that neither a domain nor the hypervisor has"
    return "isolation.llc: coloring, with a color for tables; or `l3` on a platform with memory on the chip"


def _less_tables(llc_is_colored: bool) -> str:
    if llc_is_colored:
        return "less memory in the domain, whose tables map pages because it is colored; or `l2`"
    return "less memory, regions of whole blocks of 2 MiB, or fewer devices in the domain"


def _used(resource: TableResource) -> str:
    held = ", ".join(f"{name} {size_text(nbytes)}" for name, nbytes in resource.holders)
    return f"used by {held}" if held else "nobody uses any"


def _are(nbytes: int) -> str:
    return "is" if nbytes else "are"
