# SPDX-License-Identifier: Apache-2.0
"""Where the planner puts stage-2 tables with a specification, and what it refuses (X5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.admission.load import load_system
from bulkhead.geometry import PAGE_BYTES
from bulkhead.mxu import native
from bulkhead.planning.misplace import misplace
from bulkhead.planning.model import Hooks, Plan
from bulkhead.planning.plan import PlanningError, plan_memory
from bulkhead.planning.table_memory import table_bytes

KIB, MIB = 1 << 10, 1 << 20


def system(
    rt: str = "", hog: str = "", *, platform: str = "zcu102", more: str = "isolation: { llc: coloring }"
) -> str:
    return f"""\
bulkhead: 1
name: tables
platform: {platform}
{more}
domains:
  - name: rt
    criticality: rt
    cpus: [0]
    image: {{ elf: guests/periodic.elf }}
    memory: [{{ at: 0x40000000, size: 16 MiB{rt} }}]
  - name: hog
    cpus: [1]
    image: {{ elf: guests/hog.elf }}
    memory: [{{ at: 0x40000000, size: 32 MiB }}]
    {hog}
"""


def planned(tmp_path: Path, text: str, hooks: Hooks | None = None) -> Plan:
    file = tmp_path / "system.yaml"
    file.write_text(text)
    loaded = load_system(str(file))
    assert loaded.system is not None, loaded.problems
    assert loaded.platform is not None
    assert loaded.ok, loaded.problems
    return plan_memory(loaded.system, loaded.platform, hooks)


def refused(tmp_path: Path, text: str) -> tuple[str, str, str]:
    """Code, cause and remedy of the only finding."""
    with pytest.raises(PlanningError) as error:
        planned(tmp_path, text)
    (finding,) = error.value.findings
    return finding.code, finding.cause, finding.allowed or ""


def test_without_a_specification_nothing_is_placed(tmp_path: Path) -> None:
    assert planned(tmp_path, system()).tables is None


def test_core_counts_the_tables_of_a_domain() -> None:
    """Tables are the root, one for each GiB, and one for each 2 MiB that is mapped by pages."""
    assert table_bytes([(0x40000000, 0x40FFFFFF, 12)]) == (1 + 1 + 8) * PAGE_BYTES
    assert table_bytes([(0x40000000, 0x40FFFFFF, 21)]) == (1 + 1) * PAGE_BYTES
    assert table_bytes([(0x40000000, 0x40FFFFFF, 12), (0x9000000, 0x9000FFF, 12)]) == 12 * PAGE_BYTES


def test_l2_gets_a_color_that_nobody_else_has(tmp_path: Path) -> None:
    plan = planned(tmp_path, system(", spec: [l2, independent]"))
    assert plan.tables is not None
    colored = plan.tables.colored
    assert colored is not None
    assert colored.bytes == 10 * PAGE_BYTES
    others = [plan.pool.colors, *(domain.colors for domain in plan.domains)]
    assert all(colored.colors and not colored.colors & (colors or frozenset()) for colors in others)
    assert [domain.tables for domain in plan.domains] == ["colored", "pool"]
    assert all(segment.tables_placed for segment in plan.domains[0].segments)
    assert plan.tables.plan.regions[0].independence == native.FULLY, "its core and its sets are its own"
    pages = {int(pa) for pa in colored.pages(plan.space)}
    assert not pages & {int(pa) for pa in plan.pool.pages(plan.space)}


def test_on_a_shared_core_tlb_entries_are_pushed_out(tmp_path: Path) -> None:
    text = system(", spec: [l2, independent]").replace("cpus: [1]", "cpus: [0]")
    plan = planned(tmp_path, text)
    assert plan.tables is not None
    assert plan.tables.plan.regions[0].independence == native.IN_PART


def test_on_the_chip_are_all_tables_of_a_domain(tmp_path: Path) -> None:
    """Its walks bypass the caches, since on-chip frames have all colors; samples come first."""
    plan = planned(tmp_path, system(hog="table_placement: ocm"))
    assert plan.tables is not None
    (region,) = plan.tables.plan.regions
    # Root, two GiB, 16 for 32 MiB by pages, and one each for UART, GIC and what else lies in the second GiB.
    assert region.node_bytes >= 19 * PAGE_BYTES
    ocm = plan.platform.ocm
    assert ocm is not None
    assert plan.tables.on_chip_pa + region.node_bytes == ocm.at + ocm.free_bytes
    assert plan.tables.plan.past_caches(region)
    assert plan.domains[1].tables == "on_chip"


def test_where_the_cache_is_not_colored_walks_on_the_chip_use_it_unless_somebody_is_independent(
    tmp_path: Path,
) -> None:
    none = "isolation: { llc: none }"
    plan = planned(tmp_path, system(", spec: l3", more=none))
    assert plan.tables is not None
    assert plan.tables.plan.on_chip_cached
    assert plan.tables.plan.regions[0].independence == native.DISTURBED
    plan = planned(tmp_path, system(", spec: [l3, independent]", more=none))
    assert plan.tables is not None
    assert not plan.tables.plan.on_chip_cached


def test_samples_of_budgets_have_their_part_of_the_chip(tmp_path: Path) -> None:
    text = system(hog="bandwidth: { events: 10000 }\n    table_placement: ocm")
    plan = planned(tmp_path, text)
    assert plan.tables is not None
    (chip, _) = plan.tables.plan.resources
    assert ("samples of budgets", 32 * KIB) in chip.holders
    used = sum(nbytes for _, nbytes in chip.holders)
    assert chip.left == chip.limit - used


@pytest.mark.parametrize("spec", ["deterministic", "l1"])
def test_no_tlb_entry_can_be_locked(tmp_path: Path, spec: str) -> None:
    code, cause, allowed = refused(tmp_path, system(f", spec: {spec}"))
    assert code == "mxu-enohw"
    assert "'rt', 16 MiB at 0x40000000" in cause
    assert spec in cause
    assert "no TLB entries that can be locked" in cause
    assert "l2" in allowed


def test_l2_needs_a_colored_cache(tmp_path: Path) -> None:
    code, cause, allowed = refused(tmp_path, system(", spec: l2", more="isolation: { llc: none }"))
    assert code == "mxu-enohw"
    assert "on-chip memory is slower" in cause
    assert "isolation.llc: coloring" in allowed


def test_without_colors_and_a_chip_nothing_can_be_promised(tmp_path: Path) -> None:
    code, cause, _ = refused(
        tmp_path, system(", spec: l3", platform="qemu-virt", more="isolation: { llc: none }")
    )
    assert code == "mxu-enohw"
    assert "'qemu-virt' has no memory on the chip" in cause


def test_who_has_used_up_the_chip_is_said(tmp_path: Path) -> None:
    text = (
        system(hog="table_placement: ocm")
        + "    # hog\n"
        + """\
  - name: third
    cpus: [2]
    image: { elf: guests/hog.elf }
    memory: [{ at: 0x40000000, size: 48 MiB }]
    table_placement: ocm
"""
    )
    code, cause, _ = refused(tmp_path, text)
    assert code == "mxu-ebusy"
    assert "'third', 48 MiB at 0x40000000 [table_placement: ocm]" in cause
    assert "domain 'hog'" in cause
    assert "of 160 KiB" in cause


def test_a_table_color_of_its_own_is_nobody_elses(tmp_path: Path) -> None:
    more = "isolation: { llc: coloring }\nhypervisor: { llc: { colors: [7] }, tables: { colors: [5] } }"
    plan = planned(tmp_path, system(", spec: l2", more=more))
    assert plan.tables is not None
    assert plan.tables.colored is not None
    assert plan.tables.colored.colors == frozenset({5})
    file = tmp_path / "system.yaml"
    file.write_text(system(", spec: l2", more=more.replace("[5]", "[7]")))
    problems = [problem.code for problem in load_system(str(file)).problems]
    assert problems == ["color-overlap"]


def test_more_than_the_sets_of_the_colors_hold_is_refused(tmp_path: Path) -> None:
    """Otherwise tables would evict each other: a color of the ZCU102 holds 128 KiB."""
    more = "isolation: { llc: coloring }\nhypervisor: { tables: { colors: [5] } }"
    text = system(", spec: l2", more=more).replace("size: 16 MiB", "size: 64 MiB")
    code, cause, allowed = refused(tmp_path, text)
    assert code == "mxu-enohw"
    assert "takes 136 KiB of stage-2 tables" in cause
    assert "128 KiB" in cause
    assert "hypervisor.tables.colors" in allowed


def test_misplaced_tables_are_what_the_hypervisor_gets_and_nobody_else(tmp_path: Path) -> None:
    right = planned(tmp_path, system(", spec: l2"))
    wrong = planned(tmp_path, system(", spec: l2"), Hooks(misplace="rt"))
    assert wrong.domains == right.domains
    assert wrong.wrong_domains is not None
    assert not wrong.wrong_domains[0].segments[-1].tables_placed
    with pytest.raises(PlanningError, match="no `spec`"):
        planned(tmp_path, system(", spec: l2"), Hooks(misplace="hog"))
    found = misplace("nobody", right.domains)
    assert not isinstance(found, tuple)
    assert found.code == "bad-misplace"
