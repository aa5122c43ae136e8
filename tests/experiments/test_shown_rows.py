# SPDX-License-Identifier: Apache-2.0
"""Columns of an experiment's rows that a terminal shows."""

from __future__ import annotations

import pytest

from bulkhead.commands.experiment import show_rows

ROWS = [{"budget": 50, "slowdown": 2.8, "platform": "a"}, {"budget": 100, "slowdown": 2.8, "platform": "a"}]


def test_without_a_choice_those_that_tell_rows_apart(capsys: pytest.CaptureFixture[str]) -> None:
    show_rows(ROWS)
    shown = capsys.readouterr().out
    assert "budget" in shown and "slowdown" not in shown


def test_columns_that_a_file_names_are_all_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """A column is shown even if its values are all equal."""
    show_rows([{"budget": row["budget"], "slowdown": row["slowdown"]} for row in ROWS], of=(2, 3))
    shown = capsys.readouterr().out
    assert "budget" in shown and "slowdown" in shown
    assert "2 of 3 columns" in shown
