# SPDX-License-Identifier: Apache-2.0
"""The hypervisor that a system boots with: the one without time isolation if nothing of time is requested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bulkhead.config.system import System
from bulkhead.package.build import Build
from bulkhead.package.program import FULL, SPACE, smallest_program
from bulkhead.planning.budgets import CountedEvent
from bulkhead.planning.model import Plan

LINES = CountedEvent("L2D_CACHE_REFILL", 0x17, 64)


def changed(plan: Plan, keys: dict[str, Any] | None = None, **domain: Any) -> Plan:
    """The system with other keys, also of its second domain."""
    told = plan.system.model_dump(exclude_unset=True) | (keys or {})
    told["domains"] = (told["domains"][0], told["domains"][1] | domain)
    return replace(plan, system=System.model_validate(told))


ASKS: list[dict[str, Any]] = [
    {"bandwidth": {"events": 1000, "period": "1 ms"}},
    {"pmu": True},
    {"firmware": (0xC200_0001,)},
]


@pytest.mark.parametrize("keys", ASKS, ids=["budget", "pmu", "firmware"])
def test_a_domain_that_asks_for_something_of_time_needs_all(colored: Plan, keys: dict[str, Any]) -> None:
    assert smallest_program(colored, LINES) == SPACE
    assert smallest_program(changed(colored, **keys), LINES) == FULL


def test_regulation_needs_all(colored: Plan) -> None:
    regulation = {"policy": "dynamic-bandwidth", "interval": "1 ms", "threshold": "100 MB/s"}
    plan = changed(colored, {"regulation": regulation})
    assert smallest_program(plan, LINES) == FULL


def test_domains_on_one_core_need_all(colored: Plan) -> None:
    control, linux = colored.domains
    plan = replace(colored, domains=(control, replace(linux, cpus=(2, 0))))
    assert smallest_program(plan, LINES) == FULL


def test_what_is_not_counted_needs_nothing(colored: Plan) -> None:
    """If budgets count nothing there are none: the manifest has none either."""
    plan = changed(colored, bandwidth={"events": 1000, "period": "1 ms"})
    assert smallest_program(plan, None) == SPACE


def test_the_package_has_the_one_that_was_chosen(builder: Callable[..., Build], colored: Plan) -> None:
    def chosen(plan: Plan, **options: Any) -> tuple[str, str]:
        build = builder(plan, **options)
        return build.program, build.hypervisor_elf.name

    assert chosen(colored) == ("space", "bulkhead-space.elf")
    assert chosen(changed(colored, pmu=True)) == ("full", "bulkhead.elf")
    assert chosen(colored, program=FULL) == ("full", "bulkhead.elf")
