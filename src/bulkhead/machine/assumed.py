# SPDX-License-Identifier: Apache-2.0
"""The assumed parameters of a platform, which were neither measured nor published (`assumed` in its file),
and other values of them, to test how results depend on them.

`sensitivity` and the test of independent facts use it. Only parameters of the simulated machine's settings
can change a result; other assumed ones (such as costs of hypervisor code in a generator's run) change
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from bulkhead.config.parameters import Parameter, is_time, parameters
from bulkhead.config.platform import Platform
from bulkhead.config.timing import ALL, MARKS

_RATIOS = ("cycles_per_instruction",)  # parameters that need not be whole numbers
_DECIMALS = 1000  # resolution of such a number in a file: 1/1000


@dataclass(frozen=True)
class Varied:
    """Another value of one parameter."""

    key: str
    value: str  # text of the file's value
    other: str
    setting: str  # in the form of `--set` for a platform


@dataclass(frozen=True)
class Assumed:
    """One parameter, with the two values to which it is varied."""

    key: str
    shown: str
    low: Varied
    high: Varied


def assumed(platform: Platform, share: Fraction) -> list[Assumed]:
    """All numeric assumed parameters, each decreased and increased by this share. A whole number changes by
    at least one and stays positive."""
    return list(_assumed(platform, share))


def _assumed(platform: Platform, share: Fraction) -> Iterator[Assumed]:
    for one in [*parameters(platform), *_defaults(platform)]:
        if one.origin != "assumed" or isinstance(one.value, bool) or not isinstance(one.value, (int, float)):
            continue
        yield varied(one, share)


def varied(one: Parameter, share: Fraction) -> Assumed:
    """A parameter with the values to which it is varied."""
    low, high = (_other(one, factor) for factor in (1 - share, 1 + share))
    return Assumed(one.key, one.shown, low, high)


def _defaults(platform: Platform) -> Iterator[Parameter]:
    """Default parameters of the controller, if the file marks the whole section as assumed."""
    controller = platform.dram.controller if platform.dram is not None else None
    if controller is None or controller.assumed != ALL:
        return
    for name in type(controller).model_fields:
        value = getattr(controller, name)
        if name not in MARKS and name not in controller.model_fields_set and value:
            yield Parameter(f"dram.controller.{name}", value, str(value), controller.source or "", "assumed")


def _other(one: Parameter, factor: Fraction) -> Varied:
    wanted = Fraction(str(one.value)) * factor
    if is_time(one.key):
        text = f"{round(wanted)} ps"
        return Varied(one.key, one.shown, f"{float(wanted) / 1000:g} ns", f"{one.key}={text}")
    if one.key.endswith(_RATIOS):
        text = f"{float(round(wanted * _DECIMALS)) / _DECIMALS:g}"
    else:
        whole = round(wanted)
        if whole == one.value:
            whole += 1 if factor > 1 else -1
        text = str(max(whole, 0 if one.value == 0 else 1))
    return Varied(one.key, one.shown, text, f"{one.key}={text}")
