# SPDX-License-Identifier: Apache-2.0
"""Core's refusal of a partition's settings, in the terms of the system file: the key, the cause, and the
nearest value that the hardware has."""

from __future__ import annotations

from fractions import Fraction

from bulkhead.config.mpam import Resource
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.shares import MOST_WINDOW_US
from bulkhead.config.system import System
from bulkhead.planning import mpam_native as native
from bulkhead.planning.colors import HYPERVISOR
from bulkhead.planning.mechanism import Instance
from bulkhead.planning.mpam import Settings
from bulkhead.planning.mpam_bandwidth import priority_bits
from bulkhead.units import mask_text, percent_down, percent_text, percent_up

# For each control: the key of the file, and the register.
CONTROLS: dict[int, tuple[tuple[str, str], str]] = {
    native.CACHE_PORTIONS: (("llc", "portions"), "CPBM"),
    native.CMAX: (("llc", "max"), "CMAX"),
    native.CMAX_SOFT: (("llc", "soft"), "CMAX"),
    native.CMIN: (("llc", "min"), "CMIN"),
    native.ASSOCIATIVITY: (("llc", "associativity"), "CASSOC"),
    native.MBW_MIN: (("bandwidth", "min"), "MBW_MIN"),
    native.MBW_MAX: (("bandwidth", "max"), "MBW_MAX"),
    native.MBW_MAX_HARD: (("bandwidth", "hard"), "MBW_MAX"),
    native.BANDWIDTH_PORTIONS: (("bandwidth", "portions"), "MBW_PBM"),
    native.PROPORTIONAL: (("bandwidth", "stride"), "MBW_PROP"),
    native.INTERNAL_PRIORITY: (("bandwidth", "priority"), "PRI"),
    native.DOWNSTREAM_PRIORITY: (("bandwidth", "priority"), "PRI"),
    native.WINDOW: (("bandwidth", "window"), "MBW_WINWD"),
}


def refused(
    system: System, owner: int, instance: Instance, settings: Settings, refusal: int, control: int
) -> Finding:
    """The finding about an owner's refused settings at an instance, at the key of the file."""
    key, register = CONTROLS[control]
    place: KeyPath = ("hypervisor",) if owner == HYPERVISOR else ("domains", owner)
    count = 1 if owner == HYPERVISOR else max(1, system.domains[owner].virtual_partids)
    code, cause, allowed = _why(instance, settings, refusal, control, register, count)
    return Finding((*place, *key), code, cause, allowed)


def reason(instance: Instance, settings: Settings, refusal: int, control: int) -> str:
    """The refusal as a sentence, for a partition that is not in a system file."""
    key, register = CONTROLS[control]
    _, cause, allowed = _why(instance, settings, refusal, control, register, 1)
    return f"{'.'.join(key)}: {cause} (allowed: {allowed})"


def offered_keys(resource: Resource, section: str) -> tuple[str, ...]:
    """Keys of `llc` or `bandwidth` for which the instance has a control."""
    bare = native.mpam().Settings()
    features = native.features_of(resource)
    found = []
    for control, (key, _) in CONTROLS.items():
        bare.asked = control
        refusal, _control = native.mpam().check(features, bare)
        if key[0] == section and refusal != native.NO_CONTROL:
            found.append(key[1])
    return tuple(dict.fromkeys(found))


def _why(
    instance: Instance, settings: Settings, refusal: int, control: int, register: str, count: int
) -> tuple[str, str, str]:
    """Code, cause, and what is allowed."""
    name, resource = instance.name, instance.resource
    if refusal == native.NO_CONTROL:
        section = CONTROLS[control][0][0]
        keys = offered_keys(resource, section)
        offers = ", ".join(keys) if keys else f"nothing of `{section}`"
        return "not-on-platform", f"MPAM component '{name}' has no such control ({register})", offers
    if refusal == native.PORTION_RANGE:
        portions = (resource.bandwidth.portions if resource.bandwidth else None) or 0
        allowed = f"{mask_text(1)} to {mask_text((1 << portions) - 1)}: {portions} portions"
        return "out-of-range", f"names portions that '{name}' does not have", allowed
    if refusal in (native.SHARE_TOO_SMALL, native.SHARE_TOO_LARGE):
        return _beyond(name, settings, refusal, control, _width(resource, control), count)
    if refusal == native.MIN_ABOVE_MAX:
        return _crossed(name, settings, control, _width(resource, control))
    if refusal == native.VALUE_RANGE:
        cause = f"is out of range for {register} of '{name}'"
        if count > 1 and control == native.PROPORTIONAL:
            cause += f", divided among {count} PARTIDs"
        return "out-of-range", cause, _range(resource, control, count)
    return "missing-key", f"needs a maximum in {register} of '{name}', and there is none", "max"


def _beyond(
    name: str, settings: Settings, refusal: int, control: int, width: int, count: int
) -> tuple[str, str, str]:
    if refusal == native.SHARE_TOO_LARGE:
        _, nearest = native.mpam().guarantee((1, 1), width)
        cause = f"cannot be guaranteed by '{name}'"
        return "share-too-large", cause, f"at most {percent_down(Fraction(*nearest))}"
    limit = {native.CMAX: settings.cmax, native.MBW_MAX: settings.mbw_max}.get(
        control, settings.associativity
    )
    assert limit is not None
    _, nearest = native.mpam().limit(native.pair_of(limit), width)
    cause = f"is less than the smallest limit of '{name}'"
    if count > 1:
        cause += f", divided among {count} PARTIDs"
        return "share-too-small", cause, f"at least {percent_up(Fraction(*nearest) * count)}"
    return "share-too-small", cause, f"at least {percent_up(Fraction(*nearest))}"


def _crossed(name: str, settings: Settings, control: int, width: int) -> tuple[str, str, str]:
    """Minimum above maximum after rounding: a minimum is rounded up, a maximum down."""
    of_memory = control == native.MBW_MIN
    low = settings.mbw_min if of_memory else settings.cmin
    high = settings.mbw_max if of_memory else settings.cmax
    _, up = native.mpam().guarantee(native.pair_of(low or Fraction()), width)
    _, down = native.mpam().limit(native.pair_of(high or Fraction(1)), width)
    cause = (
        f"becomes {percent_text(Fraction(*up))} on '{name}', more than the maximum, which becomes "
        f"{percent_text(Fraction(*down))}"
    )
    allowed = f"at most {percent_down(Fraction(*down))}, or a maximum of {percent_up(Fraction(*up))} or more"
    return "conflict", cause, allowed


def _width(resource: Resource, control: int) -> int:
    if control in (native.CMAX, native.CMIN):
        return resource.capacity.bits if resource.capacity else 0
    if control == native.ASSOCIATIVITY:
        return resource.associativity.bits if resource.associativity else 0
    return (resource.bandwidth.bits if resource.bandwidth else None) or 0


def _range(resource: Resource, control: int, count: int) -> str:
    if control == native.PROPORTIONAL:
        return f"1 to {(1 << _width(resource, control)) // count}"
    if control == native.WINDOW:
        return f"1 us to {MOST_WINDOW_US} us"
    return f"0 to {(1 << priority_bits(resource)) - 1}"
