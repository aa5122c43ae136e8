# SPDX-License-Identifier: Apache-2.0
"""M6: `bulkhead resctrl` reads and writes shares of a running Linux, and reports what its kernel cannot
express. The tests use file trees like those of two kernels: no kernel checks the writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bulkhead.check.files import plan_file
from bulkhead.resctrl.tree import ResctrlError, offer_of, parse_schemata, read_group, schemata_text
from tests.command_line import run
from tests.config.mpam_board import platform_file, system_file
from tests.json_results import parsed
from tests.resctrl.trees import MIB, before_mpam, contents, count_bytes, put_group, with_mpam

SHARES: dict[str, Any] = {
    "control": {"llc": {"share": "25 %"}},
    "other": {"llc": {"size": "256 KiB"}, "bandwidth": {"max": "33.3 %"}},
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "resctrl"


def system(directory: Path, **keys: Any) -> str:
    platform_file(directory)
    return str(system_file(directory, **keys))


def resctrl(command: str, file: str, root: Path, *options: str) -> tuple[int, dict[str, Any]]:
    code, text = run("resctrl", command, file, "--root", str(root), "--json", *options)
    return code, parsed(text)


def masks(root: Path, *groups: str, line: str = "L3") -> list[int]:
    return [read_group(root, name).schemata[line][0] for name in groups]


def keys(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(one["key"], one["code"]) for one in found]


def test_m6_show_reads_both_kernels_and_writes_nothing(tmp_path: Path, root: Path) -> None:
    for made in (before_mpam(root / "old"), with_mpam(root / "new")):
        before = contents(made)
        code, result = resctrl("show", system(tmp_path, control={"llc": {"share": "25 %"}}), made)
        assert code == 0, result["reasons"]
        assert contents(made) == before
        groups = {one["name"]: one for one in result["groups"]}
        assert set(groups) == {"", "control", "other", "hog"}
        assert groups["control"]["has"] is None
        assert "25 %" in groups["control"]["asks"]["llc"]
        assert groups[""]["has"]["bandwidth"] == "{ max: 100 % }"
    assert groups[""]["has"]["llc"] == "{ portions: 0xFFFFFFFF }, 100 %"
    assert groups[""]["has"]["occupancy_bytes"] == {"0": MIB // 2}


def test_m6_a_monitor_that_is_not_ready_has_no_value(root: Path) -> None:
    assert read_group(before_mpam(root), "").occupancy == {0: 3 * MIB}


def test_m6_apply_makes_a_group_of_each_domain(tmp_path: Path, root: Path) -> None:
    code, result = resctrl("apply", system(tmp_path, **SHARES), with_mpam(root))
    assert code == 0, result["reasons"]
    default, control, other, hog = masks(root, "", "control", "other", "hog")
    assert control == 0xFF
    assert other == 0xFF00, "256 KiB of this machine's 1 MiB"
    assert default | hog == 0xFFFF0000
    assert default & hog == 0
    assert default.bit_count() == 8, "what is no domain's is a whole Linux, and no hypervisor"
    assert masks(root, "control", "other", line="MB") == [100, 33], "33.3 % in whole percent, rounded down"
    assert [read_group(root, one).cpus for one in ("control", "other", "hog")] == [(0,), (1,), (2, 3)]
    assert ("domains[1].bandwidth.max", "rounded") in keys(result["notices"])
    assert ("domains[0].llc", "devices") in keys(result["notices"]), "all portions are `shareable_bits`"
    count_bytes(root, 32)
    again = resctrl("show", system(tmp_path, **SHARES), root)[1]["groups"]
    for group in again:
        assert group["asks"]["schemata"] == group["has"]["schemata"]


def test_m6_every_cache_is_divided_alike_and_steps_are_the_kernels(tmp_path: Path, root: Path) -> None:
    code, result = resctrl("apply", system(tmp_path, **SHARES), before_mpam(root))
    assert code == 0, result["reasons"]
    found = read_group(root, "other").schemata
    assert found["MB"] == {0: 30, 1: 30}
    assert found["L3"] == {0: 0x20, 1: 0x20}, "256 KiB of 20 MiB are a quarter of a portion"
    assert "devices" not in {one["code"] for one in result["notices"]}, "they are the default group's"


def test_m6_masks_are_those_that_el2_would_have(tmp_path: Path, root: Path) -> None:
    asked: dict[str, Any] = {"control": {"llc": {"share": "30 %"}}, "other": {"llc": {"share": "12.5 %"}}}
    asked["hog"] = {"llc": {"colors": [6, 7]}}
    file = system(tmp_path, **asked)
    assert resctrl("apply", file, with_mpam(root, 16))[0] == 0
    plan = plan_file(file).plan
    assert plan is not None and plan.mpam is not None
    by_partid = {
        one.partid: one.settings.cache_portions for one in plan.mpam.settings if one.component == "llc"
    }
    for name in asked:
        partition = plan.mpam.partition(name)
        assert partition is not None
        assert masks(root, name) == [by_partid[partition.partid]]


def test_m6_what_the_kernel_cannot_express_is_said_and_nothing_is_written(tmp_path: Path, root: Path) -> None:
    bandwidth = {"min": "20 %", "max": "50 %", "hard": True, "priority": 0, "window": "5 us", "stride": 2}
    asked: dict[str, Any] = {
        "control": {"llc": {"share": "25 %", "max": "50 %", "min": "5 %"}, "bandwidth": bandwidth},
        "other": {"bandwidth": {"budget": "100 MB/s"}},
        "hog": {"virtual_partids": 2},
    }
    before = contents(with_mpam(root))
    code, result = resctrl("apply", system(tmp_path, **asked), root)
    assert code == 1
    assert contents(root) == before
    assert result["reasons"] == ["nothing is written: `--partial` applies what can be expressed"]
    of_control = ("min", "priority", "stride", "window", "hard")
    assert keys(result["not_expressed"]) == [
        ("domains[0].llc.max", "not-on-linux"),
        ("domains[0].llc.min", "not-on-linux"),
        *((f"domains[0].bandwidth.{key}", "not-on-linux") for key in of_control),
        ("domains[1].bandwidth", "not-on-linux"),
        ("domains[2].virtual_partids", "not-on-linux"),
    ]
    assert all(one["line"] > 1 for one in result["not_expressed"])
    code, result = resctrl("apply", system(tmp_path, **asked), root, "--partial")
    assert code == 0, result["reasons"]
    assert masks(root, "control", line="MB") == [50]
    assert len(result["not_expressed"]) == 9, "what is not kept is still said"


def test_m6_masks_with_gaps_need_a_kernel_that_takes_them(tmp_path: Path, root: Path) -> None:
    file = system(tmp_path, control={"llc": {"portions": 0xF0F0}})
    assert resctrl("apply", file, with_mpam(root / "new"))[0] == 0
    assert masks(root / "new", "control") == [0xF0F0]
    code, result = resctrl("apply", file, before_mpam(root / "old"))
    assert code == 1
    assert "no gaps" in result["reasons"][0]
    assert not (root / "old" / "control").exists()


def test_m6_a_share_that_the_kernel_does_not_take_is_refused(tmp_path: Path, root: Path) -> None:
    tree = before_mpam(root)
    code, result = resctrl("apply", system(tmp_path, other={"bandwidth": {"max": "9 %"}}), tree)
    assert (code, "at least 10 %" in result["reasons"][0]) == (1, True)
    (tree / "info" / "L3" / "min_cbm_bits").write_text("2\n")
    code, result = resctrl("apply", system(tmp_path, other={"llc": {"share": "5 %"}}), tree)
    assert (code, "2 of 20 or more" in result["reasons"][0]) == (1, True)


def test_m6_a_kernel_without_a_limit_of_bandwidth_says_so(tmp_path: Path, root: Path) -> None:
    """The first driver of MPAM had portions only; or bandwidth is mounted in MiB/s."""
    file = system(tmp_path, **SHARES)
    tree = with_mpam(root / "portions")
    for path in (tree / "info" / "MB").iterdir():
        path.unlink()
    (tree / "schemata").write_text("L3:0=ffffffff\n")
    in_mib = with_mpam(root / "mib")
    (in_mib / "schemata").write_text("MB:0=4294967295\nL3:0=ffffffff\n")
    for one in (tree, in_mib):
        code, result = resctrl("apply", file, one, "--partial")
        assert code == 0, result["reasons"]
        assert keys(result["not_expressed"]) == [("domains[1].bandwidth.max", "not-on-linux")]
        assert "MB" not in read_group(one, "other").schemata


def test_m6_code_and_data_have_the_same_portions(tmp_path: Path, root: Path) -> None:
    tree = with_mpam(root)
    for name in ("L3DATA", "L3CODE"):
        (tree / "info" / name).mkdir()
        for path in (tree / "info" / "L3").iterdir():
            (tree / "info" / name / path.name).write_text(path.read_text())
    for path in (tree / "info" / "L3").iterdir():
        path.unlink()
    (tree / "info" / "L3").rmdir()
    (tree / "schemata").write_text("MB:0=100\nL3DATA:0=ffffffff\nL3CODE:0=ffffffff\n")
    assert resctrl("apply", system(tmp_path, control={"llc": {"share": "25 %"}}), tree)[0] == 0
    assert masks(tree, "control", line="L3DATA") == masks(tree, "control", line="L3CODE") == [0xFF]


def test_m6_groups_of_others_stay_and_are_named_where_they_share(tmp_path: Path, root: Path) -> None:
    tree = with_mpam(root)
    put_group(tree, "backup", "MB:0=20\nL3:0=f\n")
    code, result = resctrl("apply", system(tmp_path, control={"llc": {"share": "25 %"}}), tree)
    assert code == 0
    said = [one["cause"] for one in result["notices"] if one["code"] == "stranger"]
    assert len(said) == 1
    assert "'backup'" in said[0] and "0xF" in said[0] and "'control'" in said[0]
    assert masks(tree, "backup") == [0xF]


def test_m6_more_groups_than_there_are_is_refused(tmp_path: Path, root: Path) -> None:
    tree = with_mpam(root)
    (tree / "info" / "MB" / "num_closids").write_text("3\n")
    code, result = resctrl("apply", system(tmp_path), tree)
    assert (code, "at most 3" in result["reasons"][0]) == (1, True)


def test_m6_domains_that_share_cpus_have_groups_for_their_tasks(tmp_path: Path, root: Path) -> None:
    tree = with_mpam(root)
    code, result = resctrl("apply", system(tmp_path, other={"cpus": [0]}), tree)
    assert code == 0
    assert ("domains[0].cpus", "tasks") in keys(result["notices"])
    assert not (tree / "control" / "cpus_list").exists()
    assert read_group(tree, "hog").cpus == (2, 3)


def test_m6_the_kernels_own_reason_for_a_refusal_is_passed_on(tmp_path: Path, root: Path) -> None:
    tree = with_mpam(root)
    (tree / "control").mkdir()
    (tree / "control" / "schemata").symlink_to("/nowhere/at/all")  # any write there is refused
    (tree / "info" / "last_cmd_status").write_text("Overlaps with exclusive group\n")
    code, result = resctrl("apply", system(tmp_path), tree)
    assert code == 1
    assert result["reasons"][0].endswith("Overlaps with exclusive group")


def test_m6_what_a_kernel_made_otherwise_is_found_by_reading_it_again(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bulkhead.resctrl import tree as trees

    def half(at: Path, name: str, file: str, text: str) -> None:
        (at / name).mkdir(exist_ok=True)
        (at / name / file).write_text(text.replace("MB:0=50", "MB:0=51"))

    monkeypatch.setattr(trees, "write", half)
    code, result = resctrl("apply", system(tmp_path, other={"bandwidth": {"max": "50 %"}}), with_mpam(root))
    assert code == 1
    assert result["reasons"] == ["other: MB is {0: 51} after {0: 50} was written"]


@pytest.mark.parametrize(
    ("file", "text"),
    [("info/L3/cbm_mask", "0\n"), ("info/L3/cbm_mask", "f0\n"), ("info/L3/num_closids", "many\n")],
)
def test_m6_a_tree_that_is_none_of_resctrls_is_refused(root: Path, file: str, text: str) -> None:
    tree = with_mpam(root)
    (tree / file).write_text(text)
    with pytest.raises(ResctrlError):
        offer_of(tree)


def test_m6_without_resctrl_there_is_an_answer_and_no_trace(tmp_path: Path, root: Path) -> None:
    root.mkdir()
    code, result = resctrl("show", system(tmp_path), root)
    assert code == 1
    assert "resctrl is not mounted there" in result["reasons"][0]


def test_m6_schemata_survive_being_read_and_written() -> None:
    text = "    MB:0= 70;1=100\nL3DATA:0=  ff;1=3c0\n"
    assert parse_schemata(text) == {"MB": {0: 70, 1: 100}, "L3DATA": {0: 0xFF, 1: 0x3C0}}
    assert parse_schemata(schemata_text(parse_schemata(text))) == parse_schemata(text)
    with pytest.raises(ResctrlError):
        parse_schemata("L3:0=xyz\n")


def test_m6_people_see_the_same(tmp_path: Path, root: Path) -> None:
    file = system(tmp_path, control={"llc": {"share": "25 %"}, "bandwidth": {"min": "10 %"}})
    code, text = run("resctrl", "show", file, "--root", str(with_mpam(root)))
    assert code == 0
    assert "0xFF }" in text
    assert "asks for" in text
    assert "(default)" in text
