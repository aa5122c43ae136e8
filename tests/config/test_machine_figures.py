# SPDX-License-Identifier: Apache-2.0
"""S7: figures that a platform file has from the machine are marked, and the mark is printed with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bulkhead.admission.load import load_system
from bulkhead.cli import build_app
from bulkhead.commands import limits
from bulkhead.config.load import load_platform
from bulkhead.config.machine_figures import MACHINES_OWN, machines_own
from bulkhead.config.platform import Platform
from bulkhead.planning.plan import plan_memory
from tests.json_results import parsed

ROOT = Path(__file__).parents[2]
SYSTEM = ROOT / "examples" / "flows-zdma.yaml"


def zcu102(directory: Path, old: str = "", new: str = "") -> tuple[Platform | None, list[str]]:
    text = (ROOT / "platforms" / "zcu102.yaml").read_text()
    assert old in text
    path = directory / "zcu102.yaml"
    path.write_text(text.replace(old, new, 1) if old else text)
    platform, _, problems = load_platform(path)
    return platform, [problem.text() for problem in problems]


@pytest.mark.req("F3")
def test_a_table_of_the_machine_that_admits_a_rate_is_a_notice_of_check_plan_and_runs() -> None:
    loaded = load_system(SYSTEM)
    (notice,) = [one for one in loaded.notices if one.code == "machine-figure"]
    assert MACHINES_OWN in notice.cause and "memory_budget.table" in notice.cause
    copied = load_system(SYSTEM, ["broker.engine=cpu-copy"])
    assert not [one for one in copied.notices if one.code == "machine-figure"], "the table is not asked"
    assert loaded.system is not None and loaded.platform is not None
    planned = plan_memory(loaded.system, loaded.platform).flows
    assert planned is not None and planned.memory is not None
    assert planned.memory.table_from == machines_own(loaded.platform)
    assert not any(MACHINES_OWN in remark for remark in planned.remarks), "its costs are published ones"
    own = load_system(ROOT / "examples" / "flows.yaml")
    assert own.system is not None and own.platform is not None
    flows = plan_memory(own.system, own.platform).flows
    assert flows is not None and any(MACHINES_OWN in remark for remark in flows.remarks)


@pytest.mark.req("F3")
def test_commands_that_print_it_say_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    runner = CliRunner()
    shown = parsed(runner.invoke(build_app(), ["flows", "check", str(SYSTEM), "--json"]).stdout)
    assert MACHINES_OWN in shown["memory"]["table_from"]
    origin = parsed(runner.invoke(build_app(), ["platforms", "zcu102", "--json"]).stdout)
    table = [one for one in origin["platforms"][0]["parameters"] if "memory_budget.table" in one["key"]]
    assert table and {one["origin"] for one in table} == {"machine"}
    said: list[str] = []
    monkeypatch.setattr(
        limits, "console", lambda: type("_", (), {"print": lambda _, text: said.append(text)})()
    )
    platform, _ = zcu102(tmp_path)
    assert platform is not None
    limits._show_rest(None, platform)
    assert any(MACHINES_OWN in text for text in said)


def test_a_table_that_a_board_was_measured_for_is_no_notice(tmp_path: Path) -> None:
    platform, problems = zcu102(tmp_path, "from_machine: [table]", "from_machine: []")
    assert platform is not None, problems
    assert machines_own(platform) is None


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "assumed: [request, answer]",
            "assumed: [request, anser]",
            "'anser' is marked, but has no value",
        ),
        ("from_machine: [table]", "from_machine: [tabel]", "tabel"),
        ("fitted: [guard]\n", "fitted: []\n", "explains fitted keys, but `fitted` lists none"),
    ],
)
def test_marks_name_keys_that_have_a_value(tmp_path: Path, old: str, new: str, reason: str) -> None:
    platform, problems = zcu102(tmp_path, old, new)
    assert platform is None
    assert any(reason in problem for problem in problems), problems
