# SPDX-License-Identifier: Apache-2.0
"""The reason why core/ refuses an allocation, in the terms of the system file: the range, its specification,
the resource that is used up and its owners, and what would help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bulkhead.config.components import OWN
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.mxu import native
from bulkhead.mxu.hardware import ANY_REGION_BITS, MOST_RANGES, Checker
from bulkhead.mxu.model import MxuResource, Served
from bulkhead.units import size_text

IN_BYTES = (native.OCM_BYTES, native.WAY_BYTES, native.COLORED_BYTES)


@dataclass(frozen=True)
class AskedResource:
    """One allocation, as the memory manager is asked for it."""

    number: int  # of the component
    component: str
    name: str
    path: KeyPath
    nbytes: int
    spec: tuple[str, ...]
    rights: str = "rw"
    shared: str | None = None
    shared_id: int = 0
    at: int | None = None

    @property
    def text(self) -> str:
        place = f" at {self.at:#x}" if self.at is not None else ""
        spec = f" [{', '.join(self.spec)}]" if self.spec else ""
        return f"'{self.component}.{self.name}' ({size_text(self.nbytes)}{place}){spec}"


def refused(
    asked: AskedResource,
    status: int,
    answer: native.MxuAnswer,
    checker: Checker,
    served: Sequence[Served],
    resources: Sequence[MxuResource],
) -> Finding:
    code = native.mxu().status_name(status).lower().replace("_", "-")
    if status == native.EEXIST and asked.shared is not None:
        cause = f"'{asked.component}' already has the shared memory '{asked.shared}'"
        return Finding(_key(asked, "shared"), code, f"{asked.text}: {cause}", "once in each component")
    if status == native.EEXIST:
        return Finding(_key(asked, "at"), code, *_overlap(asked, served))
    if status == native.EMISMATCH:
        return Finding(_key(asked, "shared"), code, *_mismatch(asked, served))
    if status in (native.ENOMEM, native.EINVAL):
        return Finding(_key(asked, "size"), code, *_no_memory(asked, answer, served))
    path = _key(asked, "spec") if asked.spec else asked.path
    if answer.lacking == native.REGIONS:
        if "deterministic" not in asked.spec or _has_regions(asked, checker, served):
            return Finding(path, code, *_crossing(asked, answer, checker, served))
        return Finding(path, code, *_regions(asked, status, answer, checker, served))
    if answer.lacking == native.LOCKED_ENTRIES:
        return Finding(path, code, *_entries(asked, answer, checker, resources))
    return Finding(path, code, *_placement(asked, answer, checker, resources))


def _key(asked: AskedResource, key: str) -> KeyPath:
    """Key of an entry of `memory`; stack, data and heap have keys of their own."""
    return asked.path if asked.name in OWN else (*asked.path, key)


def _holders(holders: Sequence[tuple[str, int]], *, in_bytes: bool = False) -> str:
    shown = [f"{name} ({size_text(amount) if in_bytes else amount})" for name, amount in holders]
    return ", ".join(shown) if shown else "nobody"


def _has_regions(asked: AskedResource, checker: Checker, served: Sequence[Served]) -> bool:
    """Whether its component has enough static regions left: then too few would be left for others."""
    own = sum(one.ranges for one in served if one.component == asked.component and one.is_static)
    frame = checker.kernel.frame
    last = (asked.at or 0) + -(-asked.nbytes // frame) * frame - 1
    # Without a given address, one is used at which a single region covers the allocation.
    needed = 1 if asked.at is None else len(native.mxu().regions(asked.at, last, ANY_REGION_BITS))
    return needed + own + checker.system_regions + 1 <= checker.limits[native.REGIONS]


def _regions(
    asked: AskedResource, status: int, answer: native.MxuAnswer, checker: Checker, served: Sequence[Served]
) -> tuple[str, str]:
    total = checker.limits[native.REGIONS]
    own = [(one.name, one.ranges) for one in served if one.component == asked.component and one.is_static]
    held = [("the system", checker.system_regions), *own, ("kept for misses", 1)]
    takes = f"{asked.text} takes {answer.needed} static region{'s' if answer.needed != 1 else ''}"
    cause = (
        f"{takes}, and {answer.left} of {total} are left in '{asked.component}': used up by {_holders(held)}"
    )
    if status == native.ENOHW:  # then `left` is what a component without static regions could have
        kept = f"{checker.system_regions} belong to the system, and one stays free for misses"
        cause = f"{takes}, and a component can have {answer.left} of {total}: {kept}"
    size, align, block = native.mxu().fit(asked.nbytes)
    dynamic = "without `deterministic` it gets a dynamic region"
    if answer.needed > 1 and size:
        within = "" if size == block else f" that crosses no multiple of {size_text(block)}"
        place = f"{size_text(size)} at a multiple of {size_text(block if size == block else align)}{within}"
        return cause, f"{place} takes one region; {dynamic}"
    return cause, dynamic


def _crossing(
    asked: AskedResource, answer: native.MxuAnswer, checker: Checker, served: Sequence[Served]
) -> tuple[str, str]:
    static = [(one.name, one.ranges) for one in served if one.component == asked.component and one.is_static]
    held = [("the system", checker.system_regions), *static]
    cause = (
        f"with {asked.text} an instruction of '{asked.component}' can need {answer.needed} dynamic regions "
        f"at once, and {checker.policy_name} is sure to keep only {answer.left} of them: used up by "
        f"{_holders(held)}"
    )
    return cause, "ranges with 64 bytes or more between them, or fewer `deterministic` ones"


def _entries(
    asked: AskedResource, answer: native.MxuAnswer, checker: Checker, resources: Sequence[MxuResource]
) -> tuple[str, str]:
    sizes = [size_text(size) for size in checker.kernel.entries]
    if answer.needed == 0:
        return (
            f"lockable TLB entries cannot map {asked.text}",
            f"whole entries of {', '.join(sizes)}, aligned to their size",
        )
    held = _of(resources, native.LOCKED_ENTRIES)
    limit = checker.limits[native.LOCKED_ENTRIES]
    cause = (
        f"{asked.text} takes {answer.needed} locked TLB entr{'ies' if answer.needed != 1 else 'y'}, and "
        f"{answer.left} of {limit} are left: used up by {_holders(held)}"
    )
    return (
        cause,
        f"aligned sizes of one entry ({', '.join(sizes)}), or `l2`, which places table nodes instead",
    )


def _placement(
    asked: AskedResource, answer: native.MxuAnswer, checker: Checker, resources: Sequence[MxuResource]
) -> tuple[str, str]:
    in_bytes = answer.lacking in IN_BYTES
    limit = checker.limits[answer.lacking]
    needed, left, of = (
        size_text(one) if in_bytes else str(one) for one in (answer.needed, answer.left, limit)
    )
    name = native.mxu().resource_name(answer.lacking).removeprefix("bytes ").removeprefix("of ")
    what = "table nodes of its component" if in_bytes else "itself"
    cause = (
        f"{asked.text} takes {needed} for {what}, and of {of} {name} {left} {'is' if in_bytes else 'are'} "
        f"left: used up by {_holders(_of(resources, answer.lacking), in_bytes=in_bytes)}"
    )
    more = size_text(answer.needed - answer.left) if in_bytes else str(answer.needed - answer.left)
    return cause, f"{more} more in `hardware.ocm` or `hardware.locked_ways`, or a section for `deterministic`"


def _of(resources: Sequence[MxuResource], number: int) -> Sequence[tuple[str, int]]:
    return next((one.holders for one in resources if one.number == number), ())


def _overlap(asked: AskedResource, served: Sequence[Served]) -> tuple[str, str]:
    at = asked.at or 0
    others = [one for one in served if at < one.at + one.nbytes and one.at < at + asked.nbytes]
    names = ", ".join(
        f"{one.component}.{one.name} ({one.at:#x} to {one.at + one.nbytes - 1:#x})" for one in others
    )
    return f"{asked.text} overlaps {names}", "an address that is free, or no `at`"


def _mismatch(asked: AskedResource, served: Sequence[Served]) -> tuple[str, str]:
    first = next((one for one in served if one.shared == asked.shared), None)
    assert first is not None
    spec = ", ".join(first.spec) or "best effort"
    cause = f"{asked.text} differs from '{first.component}.{first.name}' ({size_text(first.nbytes)}) [{spec}]"
    return cause, "the same size and spec in all components, and no more rights than in the first one"


def _no_memory(asked: AskedResource, answer: native.MxuAnswer, served: Sequence[Served]) -> tuple[str, str]:
    if answer.lacking in (native.RECORDS, native.NODES):
        ranges = sum(one.ranges for one in served if one.component == asked.component)
        cause = f"{asked.text} has no room in the tables of '{asked.component}', which has {ranges} ranges"
        return cause, f"at most {MOST_RANGES} ranges in a component"
    largest = sorted(served, key=lambda one: -one.nbytes)[:3]
    names = ", ".join(f"{one.component}.{one.name} ({size_text(one.nbytes)})" for one in largest)
    return f"{asked.text} does not fit into the free memory; the largest users are {names}", "smaller sizes"
