# SPDX-License-Identifier: Apache-2.0
"""The parameters of a platform that nobody has measured or published (`assumed` in its file), and other
values of them: what results must be asked against.

`sensitivity` and the test of independent facts use it. Only numbers that the simulated machine is made from
can change a result; what a file assumes beside them (costs of hypervisor code in a generator's run, say)
moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from bulkhead.config.parameters import TIMES_PS, Parameter, parameters
from bulkhead.config.platform import Platform

_RATIOS = ("cycles_per_instruction",)  # numbers that need not be whole
_DECIMALS = 1000  # of such a number in a file


@dataclass(frozen=True)
class Varied:
    """Another value of one parameter."""

    key: str
    value: str  # of the file, for people
    other: str
    setting: str  # as `--set` of a platform has it


@dataclass(frozen=True)
class Assumed:
    """One parameter, and what it is varied to."""

    key: str
    shown: str
    low: Varied
    high: Varied


def assumed(platform: Platform, share: Fraction) -> list[Assumed]:
    """All that are numbers, each less and more by this share. A whole number changes by one at least, and
    stays positive."""
    return list(_assumed(platform, share))


def _assumed(platform: Platform, share: Fraction) -> Iterator[Assumed]:
    for one in parameters(platform):
        if one.origin != "assumed" or isinstance(one.value, bool) or not isinstance(one.value, (int, float)):
            continue
        low, high = (_other(one, factor) for factor in (1 - share, 1 + share))
        yield Assumed(one.key, one.shown, low, high)


def _other(one: Parameter, factor: Fraction) -> Varied:
    wanted = Fraction(str(one.value)) * factor
    if one.key.rpartition(".")[2] in TIMES_PS:
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
