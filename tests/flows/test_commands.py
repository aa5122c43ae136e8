# SPDX-License-Identifier: Apache-2.0
"""The commands `flows ...`: exit codes, the JSON object, the output, and the same result by `check`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ..command_line import invoked, run, run_json

ROOT = Path(__file__).parents[2]
EXAMPLE = str(ROOT / "examples" / "flows.yaml")
PACKET = ("--size", "4KiB", "--bandwidth", "148MB/s")


@pytest.mark.req("F4", "F6")
def test_the_example_needs_what_min_bandwidth_says_to_the_byte() -> None:
    code, found = run_json("flows", "min-bandwidth", EXAMPLE)
    assert code == 0
    b = found["bytes_per_s"]
    assert run("flows", "check", EXAMPLE, "--set", f"broker.rate={b} B/s")[0] == 0
    code, refused = run_json("flows", "check", EXAMPLE, "--set", f"broker.rate={b - 1} B/s")
    assert code == 1
    assert not refused["schedulable"]
    assert f"{b} B/s" in refused["reasons"][0]
    _, checked = run_json("check", EXAMPLE)
    assert checked["files"][0]["promised"]["flows"]["broker"]["rate_bytes_per_s"] == b
    _, planned = run_json("plan", EXAMPLE)
    assert planned["flows"]["broker"]["rate_bytes_per_s"] == b
    assert next(one for one in planned["choices"] if one["key"] == "broker.rate")["value"] == f"{b} B/s"


@pytest.mark.req("F6")
def test_check_shows_slack_and_what_the_verdict_rests_on() -> None:
    code, text = run("flows", "check", EXAMPLE)
    assert code == 0
    for word in ("camera", "slack", "transfers", "memory", "schedulable"):
        assert word in text
    _, result = run_json("flows", "check", EXAMPLE)
    assert len(result["flows"]) == 6
    assert len(result["tasks_half_ns"]) == 18
    assert all(flow["slack_ns"] >= 0 for flow in result["flows"])


@pytest.mark.req("F5")
def test_a_broker_that_interrupts_wake_needs_more_and_says_where_that_is_not_known() -> None:
    waiting = [("--set", f"broker.wait={how}") for how in ("event", "interrupt")]
    event, interrupt = (
        run_json("flows", "min-bandwidth", EXAMPLE, *how)[1]["bytes_per_s"] for how in waiting
    )
    assert run_json("flows", "min-bandwidth", EXAMPLE)[1]["bytes_per_s"] == event < interrupt
    assert "by an interrupt" not in run("flows", "check", EXAMPLE, *waiting[1])[1]
    published = ("--set", "platform=zcu102-published", "--set", "regulation.overcommit=true")
    assert "by an interrupt" in run("flows", "check", EXAMPLE, *published, *waiting[1])[1]
    assert "by an interrupt" not in run("flows", "check", EXAMPLE, *published, *waiting[0])[1]


@pytest.mark.req("F5")
@pytest.mark.parametrize("keys", [{"engine": "cpu-copy"}, {"engine": "zdma", "copy_up_to": "1 KiB"}])
def test_a_core_copies_no_faster_than_was_measured(keys: dict[str, str]) -> None:
    given = {"platform": "zcu102", "regulation.overcommit": "true"} | {
        f"broker.{key}": value for key, value in keys.items()
    }

    def check(rate: str) -> tuple[int, dict[str, Any]]:
        settings = [f"{key}={value}" for key, value in (given | {"broker.rate": rate}).items()]
        return run_json("flows", "check", EXAMPLE, *(word for one in settings for word in ("--set", one)))

    assert check("500 MB/s")[0] == 0
    code, refused = check("501 MB/s")
    assert code == 1 and "up to 500000000 B/s" in refused["reasons"][0]


@pytest.mark.req("F5")
def test_the_engine_copies_as_fast_as_its_regulator_lets_it() -> None:
    machine = ("platform=zcu102", "regulation.overcommit=true", "broker.engine=zdma")
    settings = (*machine, "broker.rate=600 MB/s", "flows.camera.deadline=6 ms")
    assert run("flows", "check", EXAMPLE, *(word for one in settings for word in ("--set", one)))[0] == 0


def test_a_resolved_plan_has_the_rate_and_plans_to_the_same(tmp_path: Path) -> None:
    resolved = tmp_path / "resolved.yaml"
    assert run("plan", EXAMPLE, "-o", resolved)[0] == 0
    assert "rate: auto" not in resolved.read_text()
    assert run_json("flows", "check", resolved)[1]["flows"] == run_json("flows", "check", EXAMPLE)[1]["flows"]


@pytest.mark.req("F6")
def test_min_period() -> None:
    arguments = ("--platform", "zcu102-published", "--size", "4KiB", "--bandwidth", "148MB/s")
    code, result = run_json("flows", "min-period", *arguments)
    assert (code, result["period_ns"]) == (0, 37407)
    code, result = run_json("flows", "min-period", *arguments, "--senders", "3", "--chunk", "1 KiB")
    assert (code, result["period_ns"]) == (0, 37407 + 3 * (71 + 949 + 949 + 828 + 2646) + 4 * 2 * 71)


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (("min-period", "--size", "4KiB"), 2, ""),
        (("min-period", "--size", "4 cows", "--bandwidth", "1 MB/s"), 2, ""),
        (
            ("min-period", "--size", "4KiB", "--bandwidth", "148MB/s", "--platform", "zcu12"),
            1,
            "did you mean 'zcu102",
        ),
        (
            ("min-period", "--size", "4KiB", "--bandwidth", "148MB/s", "--platform", "nope"),
            1,
            "zcu102-published",
        ),
        (("sweep", "--platform", "nope"), 1, "zcu102-published"),
        (
            ("min-period", "--size", "4KiB", "--bandwidth", "148MB/s", "--platform", "zcu104"),
            1,
            "those that do: ",
        ),
        (("min-period", "--size", "5GiB", "--bandwidth", "148MB/s"), 1, "4 GiB"),
        (("min-period", "--size", "4GiB", "--bandwidth", "1MB/s"), 1, "18 minutes"),
        (("check", str(ROOT / "examples" / "mixed-criticality.yaml")), 1, "no flows"),
        (("min-bandwidth", str(ROOT / "examples" / "bad" / "flow-impossible.yaml")), 1, "any bandwidth"),
        (("min-bandwidth", str(ROOT / "examples" / "bad" / "flow-deadline-short.yaml")), 1, "fixed parts"),
        (("check", "nowhere.yaml"), 1, "no such file"),
        (("sweep", "--flows", "1000"), 1, "are out of range"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: tuple[str, ...], code: int, word: str) -> None:
    assert run("flows", *arguments)[0] == code
    if code == 1:
        _, result = run_json("flows", *arguments)
        assert result["verdict"] == "error"
        assert any(word in reason for reason in result["reasons"]), result["reasons"]


@pytest.mark.parametrize(
    ("option", "value"), [("--size", "0B"), ("--chunk", "-1B"), ("--bandwidth", "148MB"), ("--to", "0.01")]
)
def test_a_wrong_option_is_named(option: str, value: str) -> None:
    done = invoked("flows", "sweep", option, value)
    assert done.exit_code == 2
    assert f"Invalid value for {option}:" in done.stderr


def test_reasons_are_sentences() -> None:
    """They are not the arguments of the exception."""
    _, result = run_json("flows", "min-period", "--size", "5GiB", "--bandwidth", "148MB/s")
    assert result["reasons"] == ["flow 0: the packet size is not 1 B to 4 GiB"]


def test_a_narrow_terminal_leaves_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    _, text = run("flows", "check", EXAMPLE)
    assert "\u2026" not in text  # an ellipsis
    assert "packet in transfers: 64 KiB in 24\n" in text, "each cell stands behind the name of its column"


@pytest.mark.req("F6")
def test_the_object_has_what_a_test_of_its_tasks_needs() -> None:
    """For a packet of one transfer, `fixed` is that transfer and the cost of queues."""
    _, result = run_json("flows", "check", EXAMPLE)
    transfer = result["broker"]["transfer_half_ns"]
    for task in result["tasks_half_ns"]:
        transfers = 1 + round((task["fixed"] - task["last_fixed"]) / transfer)
        flow = next(one for one in result["flows"] if one["name"] == task["flow"])
        assert transfers == (flow["transfers"] if task["kind"] == "data" else 1)


@pytest.mark.req("F6")
def test_a_sweep_that_cannot_be_written_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "below"
    code, result = run_json("flows", "sweep", "--sets", 1, "--from", 0.5, "--to", 0.5, "-o", place)
    assert (code, result["verdict"]) == (1, "error")
    assert "cannot be written: Not a directory" in result["reasons"][0]


def test_sweep_writes_a_table_and_a_plot(tmp_path: Path) -> None:
    arguments = ("--sets", 50, "--flows", 10, "--from", 0.5, "--to", 0.6, "-o", tmp_path)
    code, result = run_json("flows", "sweep", *arguments)
    assert code == 0
    assert [point["utilization"] for point in result["rows"]] == [0.5, 0.55, 0.6]
    assert all(point["ratio_low"] <= point["ratio"] <= point["ratio_high"] for point in result["rows"])
    for took in (result["analysis_us"], *(row["analysis_us"] for row in result["rows"])):
        assert 0 < took["median"] <= took["p95"] <= took["max"]
        assert 0 < took["mean"] <= took["max"]
    assert (tmp_path / "sweep.csv").read_text().count("\n") == 4
    assert "<svg" in (tmp_path / "sweep.svg").read_text()


@pytest.mark.req("F9")
@pytest.mark.parametrize(
    ("example", "code", "word"),
    [("flow-queue-long", "queue-long", "256 packets"), ("flow-parse-long", "parse-long", "parsing")],
)
def test_what_the_single_threaded_broker_has_no_room_for_is_refused_with_a_way_out(
    example: str, code: str, word: str
) -> None:
    status, result = run_json("flows", "check", ROOT / "examples" / "bad" / f"{example}.yaml")
    assert status == 1
    (error,) = result["errors"]
    assert error["code"] == code
    assert word in result["reasons"][0]
    assert "period" in error["allowed"] or "at least" in error["allowed"]


@pytest.mark.req("F9")
def test_reports_say_which_analysis_and_which_transfers() -> None:
    _, own = run_json("flows", "check", EXAMPLE)
    assert own["broker"]["flow_model"] == "single-thread"
    assert own["broker"]["lead_half_ns"] > 0
    assert any("single-thread" in remark for remark in own["remarks"])
    assert "3732 B" in own["transfers"]
    published = ("--set", "platform=zcu102-published", "--set", "regulation.overcommit=true")
    _, theirs = run_json("flows", "check", EXAMPLE, *published)
    assert theirs["broker"]["flow_model"] == "published"
    assert theirs["broker"]["lead_half_ns"] == theirs["broker"]["lead_bytes"] == 0
    assert "by chunk" in theirs["transfers"]
    _, period = run_json("flows", "min-period", *PACKET, "--platform", "zcu102")
    assert (period["flow_model"], period["transfers"]) == ("single-thread", 1)


@pytest.mark.parametrize(
    ("settings", "key", "cause", "allowed"),
    [
        (
            ("broker.chunk=63 B",),
            "broker.chunk",
            "is 63 B",
            "64 B to 1 MiB",
        ),
        (
            ("broker.chunk=64 B", "flows.0.transfers=47"),
            "flows[0].transfers",
            "47 transfers of a packet of 3072 bytes",
            "48 to 1048576 in chunks of 64",
        ),
    ],
)
def test_a_chunk_that_is_too_small_and_transfers_that_are_too_few_are_refused_at_their_keys(
    settings: tuple[str, ...], key: str, cause: str, allowed: str
) -> None:
    words = [word for setting in settings for word in ("--set", setting)]
    code, found = run_json("check", ROOT / "examples" / "flows-iommu.yaml", *words)
    (problem,) = found["files"][0]["errors"]
    assert code == 1
    assert (problem["key"], problem["cause"], problem["allowed"]) == (key, cause, allowed)
