# SPDX-License-Identifier: Apache-2.0
"""Stages of `make test`: none runs before those that it needs, no more run at a time than there is room for,
and none is lost."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from checks.leftovers import files_outside, left_behind
from checks.stages import Ended, Stage, count_file, leave_count, run_stages
from checks.verdict import Count

# The process of a stage: two lines with a pause between them, then its count and exit code.
BODY = """
import sys, time
print("begin", time.monotonic(), flush=True)
time.sleep(float(sys.argv[3]))
print("end", time.monotonic(), flush=True)
open(sys.argv[1], "w").write(sys.argv[2]) if sys.argv[2] else None
sys.exit(int(sys.argv[4]))
"""
PASSED = '{"passed": 1, "failed": 0, "skipped": 0}'


def never() -> Count:
    raise AssertionError("it runs in a process of its own")


def stage(name: str, *after: str, cores: int = 2) -> Stage:
    return Stage(name, never, after, cores)


def run(
    directory: Path,
    stages: Sequence[Stage],
    counts: dict[str, str] | None = None,
    codes: dict[str, int] | None = None,
    pause_s: float = 0.2,
) -> dict[str, Ended]:
    def command(one: Stage) -> list[str]:
        count = (counts or {}).get(one.name, PASSED)
        code = str((codes or {}).get(one.name, 0))
        return [
            sys.executable,
            "-S",
            "-c",
            BODY,
            str(count_file(directory, one.name)),
            count,
            str(pause_s),
            code,
        ]

    announced: list[str] = []
    ended = {
        one.stage.name: one
        for one in run_stages(stages, 2, command, directory, lambda s: announced.append(s.name))
    }
    assert sorted(ended) == sorted(announced) == sorted(one.name for one in stages)
    return ended


def span(one: Ended) -> tuple[float, float]:
    words = one.output.split()
    return float(words[1]), float(words[3])


def test_a_stage_waits_for_those_before_it(tmp_path: Path) -> None:
    stages = [stage("c", "a", "b", cores=0), stage("a", cores=0), stage("b", "a", cores=0)]
    ended = run(tmp_path, stages)
    assert span(ended["a"])[1] <= span(ended["b"])[0]
    assert span(ended["b"])[1] <= span(ended["c"])[0]


def test_stages_share_the_cores_and_those_that_need_none_wait_for_nobody(tmp_path: Path) -> None:
    stages = [
        stage("all"),
        stage("also all"),
        stage("one", cores=1),
        stage("other", cores=1),
        stage("net", cores=0),
    ]
    ended = run(tmp_path, stages, pause_s=0.6)
    spans = {name: span(one) for name, one in ended.items()}
    assert spans["all"][1] <= spans["also all"][0]
    assert spans["also all"][1] <= min(spans["one"][0], spans["other"][0])
    assert spans["net"][0] < spans["all"][1]
    assert max(spans["one"][0], spans["other"][0]) < min(spans["one"][1], spans["other"][1])


def test_a_stage_that_is_larger_than_the_machine_runs_alone(tmp_path: Path) -> None:
    ended = run(tmp_path, [stage("one", cores=1), stage("large", cores=8)], pause_s=0.1)
    assert span(ended["one"])[1] <= span(ended["large"])[0]


@pytest.mark.parametrize(
    ("count", "code", "expected"),
    [
        (PASSED, 0, Count(1)),
        ('{"passed": 2, "failed": 3, "skipped": 4}', 0, Count(2, 3, 4)),
        ("", 0, Count(failed=1)),
        ("", 1, Count(failed=1)),
        (PASSED, 1, Count(1, 1)),
    ],
    ids=["passed", "failed", "nothing left", "died", "died at the end"],
)
def test_a_stage_that_leaves_no_count_has_failed_and_the_others_go_on(
    tmp_path: Path, count: str, code: int, expected: Count
) -> None:
    ended = run(tmp_path, [stage("a"), stage("b", "a")], {"a": count}, {"a": code}, pause_s=0)
    assert ended["a"].count == expected
    assert ended["b"].count == Count(1)


def test_what_a_stage_took_of_the_processors_is_known(tmp_path: Path) -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    command = [
        sys.executable,
        "-S",
        "-c",
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])",
    ]
    (one,) = run_stages([stage("a")], 2, lambda _: command, tmp_path, lambda _: None)
    assert 0.3 <= one.cpu_seconds < 3


def test_stages_that_wait_for_each_other_are_refused(tmp_path: Path) -> None:
    start = time.monotonic()
    with pytest.raises(ValueError, match="wait for each other"):
        run(tmp_path, [stage("a", "b"), stage("b", "a")])
    assert time.monotonic() - start < 30


def test_counts_go_from_the_stage_s_process_to_the_verdict(tmp_path: Path) -> None:
    leave_count(tmp_path, "two words", Count(1, 2, 3))
    (one,) = run_stages(
        [stage("two words")], 2, lambda _: [sys.executable, "-S", "-c", ""], tmp_path, lambda _: None
    )
    assert one.count == Count(1, 2, 3)


def test_a_file_outside_of_the_build_tree_is_found_wherever_it_is(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "tests" / "build").mkdir(parents=True)
    before = files_outside(tmp_path)
    for name in ("build/new", ".git"):
        (tmp_path / name).touch()
    assert files_outside(tmp_path) == before
    for name in (".cache", "tests/__pycache__", "tests/build/new"):
        (tmp_path / name).touch()
        assert files_outside(tmp_path) - before == {Path(name)}
        (tmp_path / name).unlink()


def test_a_temporary_file_that_stays_is_found(tmp_path: Path) -> None:
    (tmp_path / "pytest-of-somebody").mkdir()
    assert left_behind(tmp_path) == set()
    (tmp_path / "scratch").mkdir()
    assert left_behind(tmp_path) == {tmp_path / "scratch"}
