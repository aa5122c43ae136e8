# SPDX-License-Identifier: Apache-2.0
"""The verdict of `make test` counts the cases in result files, and a program that died counts as failed."""

from pathlib import Path

from checks.verdict import Count, count_ctest, count_junit

GOOGLETEST = """<?xml version="1.0"?><testsuites><testsuite name="s">
<testcase name="good" status="run" result="completed"/>
<testcase name="bad" status="run" result="completed"><failure message="no"/></testcase>
<testcase name="off" status="notrun" result="suppressed"/></testsuite></testsuites>"""
ALL_GOOD = '<testsuites><testsuite><testcase name="good" status="run"/></testsuite></testsuites>'


def ctest(*programs: tuple[str, str]) -> str:
    cases = "".join(f'<testcase name="{name}" status="{status}"/>' for name, status in programs)
    return f'<testsuite name="host">{cases}</testsuite>'


def test_cases_of_a_program_are_counted_one_by_one(tmp_path: Path) -> None:
    file = tmp_path / "result.xml"
    file.write_text(GOOGLETEST)
    assert count_junit(file) == Count(passed=1, failed=1, skipped=1)


def test_a_missing_result_file_is_a_failure(tmp_path: Path) -> None:
    assert count_junit(tmp_path / "absent.xml") == Count(failed=1)


def test_programs_of_ctest_are_summed(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(GOOGLETEST)
    (tmp_path / "b.xml").write_text(ALL_GOOD)
    summary = tmp_path / "ctest.xml"
    summary.write_text(ctest(("a", "fail"), ("b", "run")))
    assert count_ctest(summary, tmp_path) == Count(passed=2, failed=1, skipped=1)


def test_a_program_that_dies_after_good_cases_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "leaks.xml").write_text(ALL_GOOD)
    summary = tmp_path / "ctest.xml"
    summary.write_text(ctest(("leaks", "fail")))
    assert count_ctest(summary, tmp_path) == Count(passed=1, failed=1)


def test_a_program_that_dies_before_it_writes_is_a_failure(tmp_path: Path) -> None:
    summary = tmp_path / "ctest.xml"
    summary.write_text(ctest(("gone", "fail")))
    assert count_ctest(summary, tmp_path) == Count(failed=1)


def test_the_verdict_is_one_plain_line() -> None:
    assert str(Count(3, 1)) == "3 passed, 1 failed"
    assert str(Count(3, 0, 2)) == "3 passed, 0 failed, 2 skipped"
