# SPDX-License-Identifier: Apache-2.0
"""Real programs as components on both emulated boards: they compute the same as other implementations
(X7)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bulkhead.microkernel.run import ComponentRunRequest, run_components
from tests.microkernel import app_results as expected

pytestmark = pytest.mark.emulator
MPS2, ZYNQ = "mps2-an500", "xilinx-zynq-a9"
on_each_board = pytest.mark.parametrize("board", [MPS2, ZYNQ])

ROWS, SIDE, MOST, COUNT = 40, 6, 20, 50
SEED, ACCESSES, MATRIX_ROWS = 7, 3000, 2
PATTERNS = {"sequential": 0, "random": 1, "stride": 2, "matrix": 3}
BYTES = {"matrix": 4 * 128 * (128 + MATRIX_ROWS)}
SMALL = 16384
FOR = {MPS2: "6 s", ZYNQ: "400 ms"}

Json = dict[str, Any]


def app(name: str, program: str, params: dict[str, int], **keys: object) -> Json:
    return {
        "name": name,
        "image": {"app": program},
        "params": params,
        "stack": "32 KiB" if program == "duktape" else "16 KiB",
        **keys,
    }


def pattern(name: str, **params: int) -> Json:
    numbers = {
        "pattern": PATTERNS[name],
        "accesses": ACCESSES,
        "bytes": BYTES.get(name, SMALL),
        "rows": MATRIX_ROWS,
        "seed": SEED,
    }
    return app(name, "patterns", numbers | params)


def attempt(board: str, for_: str, *components: Json, on: str = "qemu", **hardware: object) -> Json:
    """The result of a run, as `run --json` prints it; a refused run has no components."""
    system = {
        "bulkhead": 1,
        "name": "apps",
        "platform": board,
        "run": {"for": for_},
        "hardware": hardware,
        "components": list(components),
    }
    with TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "apps.yaml").write_text(json.dumps(system))
        request = ComponentRunRequest(str(directory / "apps.yaml"), on, directory=directory / "run")
        return dict(run_components(request).result)


def run(board: str, for_: str, *components: Json, on: str = "qemu", **hardware: object) -> Json:
    """The result of a run that is not refused."""
    result = attempt(board, for_, *components, on=on, **hardware)
    assert result["components"], result["reasons"]
    return result


def reports(result: Json) -> dict[str, Json]:
    return {one["name"]: one["report"] for one in result["components"]}


@cache
def all_reports(board: str) -> dict[str, Json]:
    """Reports of the applications and the patterns, all in one system."""
    result = run(
        board,
        FOR[board],
        app("sqlite", "sqlite", {"rows": ROWS}, heap="512 KiB"),
        app("duktape", "duktape", {"side": SIDE, "most": MOST, "count": COUNT}, heap="512 KiB"),
        app("cnn", "cnn", {"runs": 1, "seed": SEED}, heap="256 KiB"),
        *(pattern(name) for name in PATTERNS),
    )
    assert result["verdict"] == "ok", result["reasons"]
    assert all(reports(result).values()), "the run is too short for all"
    return reports(result)


@on_each_board
@pytest.mark.req("X7")
def test_sqlite_finds_what_another_sqlite_finds(board: str) -> None:
    wanted = expected.sqlite_result(ROWS)
    assert all_reports(board)["sqlite"].items() >= wanted.items()


@on_each_board
@pytest.mark.req("X7")
def test_javascript_computes_the_same_bits_as_python(board: str) -> None:
    report = all_reports(board)["duktape"]
    assert int(report["iterations"]) == expected.mandelbrot(SIDE, MOST)
    assert float(report["covariance"]) == expected.covariance(COUNT)


@on_each_board
@pytest.mark.req("X7")
def test_the_network_scores_as_numpy_does(board: str) -> None:
    assert all_reports(board)["cnn"]["checksum"] == expected.cnn_checksum(1, SEED)


@on_each_board
@pytest.mark.req("X7")
@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_read_the_words_that_they_say(board: str, name: str) -> None:
    report = all_reports(board)[name]
    nbytes = BYTES.get(name, SMALL)
    assert report["program"] == name
    wanted = expected.pattern_checksum(PATTERNS[name], nbytes, ACCESSES, MATRIX_ROWS, SEED)
    assert report["checksum"] == wanted
    assert report["accesses"] == (2 * MATRIX_ROWS * 128 * 128 if name == "matrix" else ACCESSES)


MACHINE_ROWS = 10


@pytest.mark.req("X7")
@pytest.mark.parametrize("platform", ["stm32f767", "zynq7020"])
def test_applications_compute_the_same_on_the_simulated_machine(platform: str) -> None:
    sqlite = app("sqlite", "sqlite", {"rows": MACHINE_ROWS}, heap="256 KiB")
    result = run(platform, "60 ms", sqlite, pattern("random"), on="machine")
    assert result["verdict"] == "ok", result["reasons"]
    found = reports(result)
    assert found["sqlite"].items() >= expected.sqlite_result(MACHINE_ROWS).items()
    wanted = expected.pattern_checksum(PATTERNS["random"], SMALL, ACCESSES, MATRIX_ROWS, SEED)
    assert found["random"]["checksum"] == wanted


PERIOD_NS = 50_000


@pytest.mark.req("X7")
def test_an_adversary_disturbs_its_own_component_and_no_other() -> None:
    """On an MPU the component that it shares loses its regions, and the one beside it does not."""
    controls = ["console", "flush-check"]
    result = run(
        MPS2,
        "100 ms",
        pattern("sequential"),
        {**pattern("random", disturb_ns=PERIOD_NS), "controls": controls},
        app("adversary", "adversary", {"reports": 100}, period="250 us", priority=0, controls=controls),
    )
    alone, disturbed, adversary = reports(result).values()
    assert alone["disturbed"] == 0
    assert disturbed["disturbed"] > 10
    assert 200 <= adversary["disturbed"] <= 400, "every 250 us of less than 100 ms"
    assert alone["refills"] <= 2
    assert disturbed["refills"] >= disturbed["disturbed"]


@pytest.mark.req("X7", "X9")
def test_an_adversary_without_the_right_fails_the_run() -> None:
    result = run(MPS2, "100 ms", pattern("random", disturb_ns=PERIOD_NS))
    assert result["verdict"] == "failed"
    assert "`controls` lacks `flush-check`" in result["reasons"][0]


@on_each_board
@pytest.mark.req("X9")
def test_an_application_that_may_ends_the_run(board: str) -> None:
    result = run(board, "100 s", {**pattern("stride"), "controls": ["console", "end"]})
    assert result["ended"] == "end"
    assert result["guest_ns"] < 1_000_000_000
    assert reports(result)["stride"]["checksum"]


@pytest.mark.req("X9")
@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"pattern": 4}, "`pattern` is at most 3"),
        ({"pattern": 2, "bytes": 100}, "of a stride whole pages"),
        ({"spec": 32}, "no memory with this specification"),
    ],
)
def test_senseless_parameters_are_refused(params: dict[str, int], reason: str) -> None:
    result = run(MPS2, "100 s", {**pattern("random", **params), "controls": ["console", "end"]})
    assert reason in result["reasons"][0]


@pytest.mark.req("X9")
def test_unknown_parameters_are_refused_by_name() -> None:
    result = attempt(MPS2, "1 s", app("random", "patterns", {"acceses": 1}))
    assert not result["components"]
    (reason,) = result["reasons"]
    assert "no parameter 'acceses'" in reason
    assert "did you mean 'accesses'" in reason
