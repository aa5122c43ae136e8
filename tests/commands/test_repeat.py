# SPDX-License-Identifier: Apache-2.0
"""'How to repeat it' contains every option that changes a run: the options come from the command's
declaration."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from bulkhead.cli import build_app
from bulkhead.commands.options import words_given
from bulkhead.commands.run import SHOWN_ONLY


def run_command() -> TyperCommand:
    root = typer.main.get_command(build_app())
    assert isinstance(root, TyperGroup)
    command = root.commands["run"]
    assert isinstance(command, TyperCommand)
    return command


def sample(option: TyperOption) -> list[list[str]]:
    """Ways to give the option, derived from its declaration."""
    if option.is_flag:
        return [[name] for name in (*option.opts, *option.secondary_opts)]
    name = option.opts[0]
    try:
        run_command().make_context("run", ["system.yaml", name, "key.path=a b"])
        value = "key.path=a b"
    except typer.BadParameter:
        value = "7"
    return [[name, value], [name, value, name, value]] if option.multiple else [[name, value]]


OPTIONS = [one for one in run_command().params if isinstance(one, TyperOption) and one.name != "help"]
CHANGING = [(one, words) for one in OPTIONS if one.name not in SHOWN_ONLY for words in sample(one)]


def repeated(words: list[str]) -> tuple[tuple[str, ...], dict[str, Any]]:
    command = run_command()
    command.context_class = typer.Context
    context = command.make_context("run", list(words))
    assert isinstance(context, typer.Context)
    with context:
        return words_given(context, SHOWN_ONLY), dict(context.params)


@pytest.mark.parametrize(
    ("option", "words"), CHANGING, ids=lambda one: one[0] if isinstance(one, list) else ""
)
def test_every_option_that_changes_the_run_is_in_the_command_that_repeats_it(
    option: TyperOption, words: list[str]
) -> None:
    again, params = repeated([*words, "a system.yaml"])
    assert again[:2] == ("run", "a system.yaml")
    _, params_again = repeated(shlex.split(shlex.join(again[1:])))
    assert params_again == params
    plain = repeated(["a system.yaml"])[1]
    assert option.name is not None and (params[option.name] != plain[option.name] or option.is_flag)
    assert len(again) > 2


def test_all_options_at_once_give_the_same_run() -> None:
    words = [
        word
        for option, way in CHANGING
        if not (option.is_flag and way[0] in option.secondary_opts)
        for word in way
    ]
    again, params = repeated(["system.yaml", *words])
    assert repeated(list(again[1:]))[1] == params


def test_what_is_only_shown_differently_is_left_out(tmp_path: Path) -> None:
    """These names are the command's: a misspelt name would leave an option in."""
    assert {one.name for one in OPTIONS} >= SHOWN_ONLY
    words = ["system.yaml", "--json", "--no-attach", "--directory", str(tmp_path), "--no-icount"]
    assert repeated(words)[0] == ("run", "system.yaml", "--no-icount")


def test_what_was_not_given_is_left_out_though_it_has_a_default() -> None:
    assert repeated(["system.yaml"])[0] == ("run", "system.yaml")
