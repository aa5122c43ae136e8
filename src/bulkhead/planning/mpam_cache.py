# SPDX-License-Identifier: Apache-2.0
"""Divides one instance of the last-level cache among the hypervisor and domains, by portions or by capacity.

mpam_planner.py calls this for each slice of the cache. core/ decides the division (core/mpam_plan.h); this
module translates keys of the file for core/ and core's refusals into findings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.shares import Llc
from bulkhead.config.system import System
from bulkhead.planning.colors import HYPERVISOR
from bulkhead.planning.mechanism import Instance
from bulkhead.planning.model import Choice
from bulkhead.planning.mpam import Settings
from bulkhead.planning.mpam_native import (
    DIVIDED,
    EXHAUSTED,
    OVERLAP,
    RANGE,
    TOO_SMALL,
    Division,
    bitmap_of,
    mpam,
    pair_of,
    words_of,
)
from bulkhead.planning.space import color_count, share_of
from bulkhead.units import mask_text, percent_text, percent_up, size_text


@dataclass
class Divided:
    """Settings of owners by index, the reasons, and findings about requests that could not be met."""

    settings: dict[int, Settings] = field(default_factory=dict)
    choices: list[Choice] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class _Owner:
    index: int  # HYPERVISOR, or index of a domain
    name: str
    llc: Llc
    realtime: bool
    top: bool = False  # the hypervisor's part: small by default, and above all others

    @property
    def path(self) -> KeyPath:
        return ("hypervisor", "llc") if self.index == HYPERVISOR else ("domains", self.index, "llc")

    @property
    def key(self) -> str:
        return "hypervisor.llc" if self.index == HYPERVISOR else f"domains.{self.name}.llc"


def divide(system: System, platform: Platform, instance: Instance, *, host: bool = False) -> Divided:
    """Cache settings of every owner. `host`: the hypervisor's part is that of a whole Linux, which shares the
    remaining portions like a domain."""
    domains = [
        _Owner(index, domain.name, domain.llc, domain.criticality == "rt")
        for index, domain in enumerate(system.domains)
    ]
    own = _Owner(HYPERVISOR, "hypervisor", system.hypervisor.llc, False, not host)
    owners = [*domains, own] if host else [own, *domains]  # without `top`, the last is the highest
    result = Divided()
    if instance.resource.portions is not None:
        _by_portions(owners, platform, instance, instance.resource.portions, result)
    else:
        _by_capacity(owners, platform, instance, result)
    return result


def portions_of_colors(colors: Sequence[int], count: int, portions: int) -> int | None:
    """Bitmap of the portions that correspond to the colors; None: a color is not a whole number of
    portions."""
    if portions % count:
        return None
    each = portions // count
    return sum(((1 << each) - 1) << color * each for color in colors)


def beside_portions(llc: Llc, portions: int | None) -> Settings:
    """Settings with these portions, and the other requested controls."""
    return replace(_without_amount(llc), cache_portions=portions, cmax=llc.max)


def _without_amount(llc: Llc) -> Settings:
    """The requested controls other than the amount."""
    return Settings(cmin=llc.min, cmax_soft=llc.soft, associativity=llc.associativity)


def _request(division: Division, owner: _Owner, platform: Platform, portions: int | None) -> None:
    bitmap = owner.llc.portions
    shared = owner.llc.shared
    if owner.llc.colors is not None and portions is not None:
        bitmap = portions_of_colors(owner.llc.colors, color_count(platform), portions)
        shared = True  # shared by owners that name the same colors; crosscheck_colors.py allowed that
    share = share_of(owner.llc, platform)
    if bitmap is not None:
        division.exact(words_of(bitmap), shared=shared)
    elif share is not None:
        division.share(pair_of(share), hypervisor=owner.top)
    else:
        division.rest(realtime=owner.realtime, hypervisor=owner.top)


def _by_portions(
    owners: Sequence[_Owner], platform: Platform, instance: Instance, portions: int, result: Divided
) -> None:
    division = mpam().Division()
    wide = [owner for owner in owners if owner.llc.portions is not None and owner.llc.portions >> portions]
    if wide:
        result.findings += [_beyond(owner, instance, portions) for owner in wide]
        return
    for owner in owners:
        _request(division, owner, platform, portions)
    division.by_portions(portions)
    if division.result.refusal != DIVIDED:
        result.findings += _refused(owners, instance, division)
        return
    for number, owner in enumerate(owners):
        bitmap = bitmap_of(division.portions(number))
        result.settings[owner.index] = beside_portions(owner.llc, bitmap)
        if owner.llc.portions is None:
            got = f"{bitmap.bit_count()} of {portions} portions of {instance.name}"
            choice = Choice(f"{owner.key}.portions", mask_text(bitmap), _reason(owner, platform, got))
            result.choices.append(choice)


def _by_capacity(owners: Sequence[_Owner], platform: Platform, instance: Instance, result: Divided) -> None:
    """Limits only: each owner is sure of what the others' limits leave."""
    assert instance.resource.capacity is not None
    width = instance.resource.capacity.bits
    for owner in owners:
        given = [key for key in ("share", "size", "colors") if getattr(owner.llc, key) is not None]
        if owner.llc.portions is not None:
            cause = f"'{instance.name}' of '{platform.name}' has capacity limits and no portions"
            finding = Finding((*owner.path, "portions"), "not-on-platform", cause, "share, size, max")
            result.findings.append(finding)
        elif given and owner.llc.max is not None:
            cause = f"without portions, `{given[0]}` and `max` are the same limit of '{instance.name}'"
            result.findings.append(Finding((*owner.path, "max"), "conflict", cause, "one of them"))
    if result.findings:
        return
    division = mpam().Division()
    for owner in owners:
        if owner.llc.max is not None:
            division.share(pair_of(owner.llc.max), hypervisor=owner.top)
        else:
            _request(division, owner, platform, None)
    division.by_capacity(width)
    if division.result.refusal != DIVIDED:
        result.findings += _refused(owners, instance, division, width)
        return
    for number, owner in enumerate(owners):
        limit = Fraction(division.steps(number), 1 << width)
        result.settings[owner.index] = replace(_without_amount(owner.llc), cmax=limit)
        if owner.llc.max is None:
            got = f"a limit of {percent_text(limit)} of {instance.name}"
            choice = Choice(f"{owner.key}.max", percent_text(limit), _reason(owner, platform, got))
            result.choices.append(choice)


def _reason(owner: _Owner, platform: Platform, got: str) -> str:
    llc, share = owner.llc, share_of(owner.llc, platform)
    if llc.colors is not None:
        return f"{len(llc.colors)} of {color_count(platform)} colors: {got}"
    if share is not None:
        asked = percent_text(share) if llc.size is None else f"{size_text(llc.size)} ({percent_text(share)})"
        return f"a share of {asked} is {got}"
    if owner.index == HYPERVISOR:
        return f"for the hypervisor's code and data: {got}"
    return f"of the part that no domain asks for: {got}" + (
        " (real-time domains first)" if owner.realtime else ""
    )


def _beyond(owner: _Owner, instance: Instance, portions: int) -> Finding:
    cause = f"names portions that '{instance.name}' does not have"
    allowed = f"{mask_text(1)} to {mask_text((1 << portions) - 1)}: {portions} portions"
    return Finding((*owner.path, "portions"), "out-of-range", cause, allowed)


def _refused(
    owners: Sequence[_Owner], instance: Instance, division: Division, width: int = 0
) -> list[Finding]:
    result = division.result
    owner = owners[result.request]
    if result.refusal == OVERLAP:
        other = owners[result.other]
        both = (owner.llc.portions or 0) & (other.llc.portions or 0)
        which = f" {mask_text(both)}" if both else ""
        cause = f"'{owner.name}' shares portions{which} of '{instance.name}' with '{other.name}'"
        allowed = "disjoint portions, or `shared: true` for each of the two"
        place = "portions" if owner.llc.portions is not None else "colors"
        return [Finding((*owner.path, place), "portion-overlap", cause, allowed)]
    if result.refusal == TOO_SMALL:
        least = Fraction(1, 1 << width)
        cause = f"is less than the smallest limit of '{instance.name}'"
        return [Finding(owner.path, "share-too-small", cause, f"at least {percent_up(least)}")]
    assert result.refusal == EXHAUSTED, f"{RANGE} and EMPTY are found before"
    what = "portions" if instance.resource.portions is not None else f"steps of 1/{1 << width}"
    found = []
    open_ones = [number for number, one in enumerate(owners) if one.llc.portions is None]
    asking = [number for number in open_ones if not owners[number].llc.auto or owners[number].llc.max]
    for number in asking or open_ones:
        one = owners[number]
        cause = (
            f"{one.name} needs {division.steps(number)} {what} of '{instance.name}'; all owners without "
            f"named portions need {result.needed}, and {result.left} are left"
        )
        found.append(Finding(one.path, "portions-exhausted", cause, "smaller shares"))
    return found
