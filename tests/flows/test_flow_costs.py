# SPDX-License-Identifier: Apache-2.0
"""F5, F10: a system gets the shorter costs of a platform only if it keeps what they were measured under."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.admission.load import load_system
from bulkhead.config.flow_costs import ISOLATED, PLAIN, FlowCosts, IsolatedFlowCosts
from bulkhead.config.platform import Platform
from bulkhead.config.system import System
from bulkhead.planning.flow_costs import ChosenCosts, chosen_costs
from bulkhead.planning.flows import plan_flows
from bulkhead.planning.plan import plan_memory

from ..platforms import platform

APART = """
bulkhead: 1
name: apart
platform: zcu102
hypervisor: { llc: { colors: [7] } }
isolation: { llc: coloring }
regulation: { overcommit: true }
domains:
  - name: one
    criticality: rt
    cpus: [0]
    image: { elf: guests/traffic.elf }
    memory: [{ at: 0x40000000, size: 4 MiB }]
    llc: { colors: [0, 1] }
  - name: two
    cpus: [1]
    image: { elf: guests/traffic.elf }
    memory: [{ at: 0x40000000, size: 4 MiB }]
  - name: three
    cpus: [2]
    image: { elf: guests/hog.elf }
    memory: [{ at: 0x40000000, size: 4 MiB }]
broker: { rate: 100 MB/s }
flows:
  - { name: f, from: one, to: two, port: 1, size: 4 KiB, period: 5 ms, deadline: 5 ms }
"""
NO_COLORS = ("isolation.llc=none", "hypervisor.llc=auto", "domains.one.llc=auto")
MORE = ", ".join(
    f"{{ name: more{n}, from: one, to: two, port: {n}, size: 64 B, period: 50 ms, deadline: 50 ms }}"
    for n in range(8)
)


def loaded(tmp_path: Path, *settings: str) -> tuple[System, Platform]:
    file = tmp_path / "apart.yaml"
    file.write_text(APART)
    found = load_system(file, settings)
    assert found.system is not None, [problem.text() for problem in found.problems]
    assert found.platform is not None
    return found.system, found.platform


def chosen(tmp_path: Path, *settings: str) -> ChosenCosts:
    found = chosen_costs(*loaded(tmp_path, *settings))
    assert found is not None
    return found


def isolated(board: str) -> IsolatedFlowCosts:
    found = platform(board).flow_costs_isolated
    assert found is not None
    return found


@pytest.mark.req("F5")
@pytest.mark.parametrize(
    "settings",
    [
        (),
        ("broker.llc={colors: [6]}",),
        ("hypervisor.llc=auto", "domains.one.llc=auto"),
        ("broker.engine=zdma",),
        ("broker.wait=interrupt",),
    ],
    ids=lambda given: ";".join(given) or "as it is",
)
def test_a_system_whose_colors_are_apart_has_the_shorter_costs(
    tmp_path: Path, settings: tuple[str, ...]
) -> None:
    found = chosen(tmp_path, *settings)
    assert found.section == ISOLATED
    assert found.costs == isolated("zcu102")
    assert "keeps to their limits" in found.reason


@pytest.mark.req("F5")
@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        (NO_COLORS, "colors do not divide the last-level cache"),
        (("domains.three.cpus=[3]", "broker.cpu=3"), "the broker has no core of its own"),
        (("domains.three.manager=true",), "'three' is a manager, which can add flows"),
        (("broker.engine=adma", "broker.dma=trusted"), "engine 'adma' of the broker's own"),
        ((f"flows=[{MORE}]",), "there are 8 flows"),
        (("isolation.color_l1=true", "hypervisor.llc=auto", "domains.one.llc=auto"), "`color_l1` makes"),
        (("domains.three.memory=[{ at: 0x40000000, size: 16 MiB }]",), "the domains have 24 MiB of memory"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_system_that_loses_a_condition_has_the_longer_ones(
    tmp_path: Path, settings: tuple[str, ...], cause: str
) -> None:
    found = chosen(tmp_path, *settings)
    assert found.section == PLAIN
    assert found.costs == platform("zcu102").flow_costs
    assert cause in found.reason
    assert f"not the shorter `{ISOLATED}`" in found.reason


@pytest.mark.req("F5")
@pytest.mark.parametrize(
    "shared", ["domains.three.llc={colors: [7]}", "domains.one.llc={colors: [6]}"], ids=["EL2", "broker"]
)
def test_a_color_that_a_domain_shares_with_el2_or_the_broker_is_refused(tmp_path: Path, shared: str) -> None:
    """So `isolation.llc: coloring` alone says that they are apart."""
    file = tmp_path / "apart.yaml"
    file.write_text(APART)
    found = load_system(file, ["broker.llc={colors: [6]}", shared])
    assert "color-overlap" in [problem.code for problem in found.problems]


@pytest.mark.req("F5")
def test_the_planner_keeps_the_colors_apart_that_it_chooses(tmp_path: Path) -> None:
    """The choice of the costs looks at named colors only."""
    system, board = loaded(tmp_path, "hypervisor.llc=auto", "domains.one.llc=auto")
    plan = plan_memory(system, board)
    broker = next(one for one in plan.domains if one.name == "broker")
    for domain in plan.domains:
        if domain is not broker:
            assert domain.colors is not None and broker.colors is not None and plan.pool.colors is not None
            assert not domain.colors & (broker.colors | plan.pool.colors)


@pytest.mark.req("F5")
def test_analysis_and_report_have_the_chosen_costs(tmp_path: Path) -> None:
    for settings, section in (((), ISOLATED), (NO_COLORS, PLAIN)):
        system, board = loaded(tmp_path, *settings)
        costs = chosen(tmp_path, *settings).costs
        planned, findings = plan_flows(system, board)
        assert planned is not None, findings
        assert planned.model.costs.finalize == costs.finalize
        assert sum(f"costs of the path: `{section}`" in remark for remark in planned.remarks) == 1
        packed = plan_memory(system, board).flows  # whose costs the manifest carries (package/manifest.py)
        assert packed is not None and packed.model.costs == planned.model.costs


@pytest.mark.req("F5")
def test_no_part_of_the_shorter_costs_is_longer() -> None:
    plain = platform("zcu102").flow_costs
    assert plain is not None
    parts, shorter = plain.parts(), isolated("zcu102").parts()
    assert set(parts) == set(shorter)
    assert all(part.max <= parts[name].max for name, part in shorter.items())


@pytest.mark.req("F5")
def test_a_board_with_its_own_costs_does_not_take_over_the_shorter_ones() -> None:
    """They were measured on the simulated machine, its own on the board."""
    published = platform("zcu102-published")
    assert isinstance(published.flow_costs, FlowCosts)
    assert published.flow_costs_isolated is None
    assert platform("zcu102-smmu").flow_costs_isolated == isolated("zcu102")
