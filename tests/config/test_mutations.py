# SPDX-License-Identifier: Apache-2.0
"""Hundreds of broken files, made from good ones: they never cause a traceback, and always an error with a
place and a cause."""

from __future__ import annotations

import copy
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from bulkhead.check.files import check_file
from bulkhead.config.load import load_platform
from bulkhead.config.problem import Problem, key_text

ROOT = Path(__file__).parents[2]
GOOD = sorted((ROOT / "examples").glob("*.yaml"))
PLATFORM = ROOT / "platforms" / "qemu-virt.yaml"
# A file that uses every section, so that mutations reach all of the models.
FULL = """
bulkhead: 1
name: full
platform: qemu-virt
hypervisor: { llc: { colors: [7] }, memory: 8 MiB, console: { default: linux } }
isolation: { llc: coloring, color_l1: false, banks: none, premap: auto }
regulation:
  { policy: dynamic, interval: 1 ms, threshold: 80 %, step: adaptive, reclaim: false, overcommit: false }
domains:
  - name: control
    criticality: rt
    cpus: [0]
    priority: 1
    image: { elf: guests/periodic.elf }
    memory: [{ at: 0x40000000, size: 16 MiB }, { at: 0x80000000, size: 4 MiB }]
    llc: { share: 25 % }
    bandwidth: unlimited
    console: true
    params: { period_us: 1000 }
  - name: linux
    cpus: [1, 2]
    image: { kernel: linux:debian, initrd: busybox, cmdline: "console=ttyAMA0 quiet" }
    memory: [{ at: 0x40000000, size: 64 MiB }]
    llc: auto
    bandwidth: { budget: 300 MB/s, per: vcpu, period: 1 ms }
    devices: []
    manager: true
    restart: never
    table_placement: best-effort
broker: { cpu: auto, engine: cpu-copy, chunk: 4 KiB, rate: auto }
flows:
  - { name: camera, from: linux, to: control, port: 5000, size: 4 KiB, period: 5 ms, deadline: 2 ms }
expect: { control: stopped }
"""
SMALL = (ROOT / "examples" / "linux-smp.yaml").read_text()
WILD: list[Any] = [
    None, True, False, 0, -1, 1 << 63, 10**30, 1.5, float("nan"), float("inf"), -0.0, "", " ", "auto", "none",
    "x" * 999, "64 MiB", "-3 ms", "1e9 GiB", "0 %", "µs", "\u0000", "\u202e", "../..",
    "name: x",
    [], {}, [[]], [None], [{}], {"": 1}, {"colors": [-1]}, {"colors": [0] * 300}, {"a": {"b": {"c": []}}},
    "2001-01-01", "0x", "{", "!!str",
]  # fmt: skip


def assert_well_formed(problems: tuple[Problem, ...], text: bytes) -> None:
    lines = text.decode("utf-8", "replace").count("\n") + 1
    for problem in problems:
        assert 1 <= problem.line <= lines, problem
        assert problem.column >= 1
        assert problem.cause.strip()
        assert problem.code
        assert problem.text().isprintable()


def check_bytes(directory: Path, data: bytes) -> tuple[Problem, ...]:
    path = directory / "system.yaml"
    path.write_bytes(data)
    problems = check_file(str(path)).problems
    assert_well_formed(problems, data)
    return problems


def dumped(value: Any) -> bytes:
    stream = io.BytesIO()
    YAML(typ="safe", pure=True).dump(value, stream)
    return stream.getvalue()


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return [place for key, child in children for place in [(*path, key), *places(child, (*path, key))]]


Lines = dict[tuple[Any, ...], tuple[int, int]]


def in_lines(value: Any) -> tuple[str, Lines]:
    """A file with one key or value on each line, and the first and last line of everything in it."""
    lines: list[str] = []
    where: Lines = {}

    def put(value: Any, path: tuple[Any, ...], before: str) -> None:
        first = len(lines) + 1
        if isinstance(value, dict | list) and value:
            mapping = isinstance(value, dict)
            lines.append(before + "[{"[mapping])
            for key, child in value.items() if isinstance(value, dict) else enumerate(value):
                put(child, (*path, key), f"{json.dumps(key)}: " if mapping else "")
            lines.append("]}"[mapping] + ",")
        else:
            unusual = {"nan": ".nan", "inf": ".inf"} if isinstance(value, float) else {}
            lines.append(before + unusual.get(str(value), json.dumps(value)) + ",")
        where[path] = first, len(lines)

    put(value, (), "")
    return "\n".join(lines).removesuffix(",") + "\n", where


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


TREES = [YAML(typ="safe", pure=True).load(text) for text in [FULL, *(path.read_text() for path in GOOD)]]
TEXTS = [FULL.encode(), *(path.read_bytes() for path in GOOD)]
SLOW_OK = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.mark.parametrize("text", TEXTS, ids=["full", *(path.stem for path in GOOD)])
def test_the_files_that_are_mutated_are_good(tmp_path: Path, text: bytes) -> None:
    assert check_bytes(tmp_path, text) == ()


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, Any]:
    tree = copy.deepcopy(draw(st.sampled_from(TREES)))
    kind = ""
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(places(tree)))
        holder, key = at(tree, place[:-1]), place[-1]
        kind = draw(st.sampled_from(["delete", "rename", "wild", "swap"]))
        if kind == "delete":
            del holder[key]
        elif kind == "rename" and isinstance(holder, dict):
            holder[draw(st.sampled_from([f"{key}x", str(key)[:-1], str(key).upper(), "ä b", ""]))] = (
                holder.pop(key)
            )
        elif kind == "swap":
            holder[key] = copy.deepcopy(at(tree, draw(st.sampled_from(places(tree)))))
        else:
            holder[key] = copy.deepcopy(draw(st.sampled_from(WILD)))
        if not places(tree):
            break
    return kind, tree


@pytest.mark.slow
@settings(SLOW_OK, max_examples=200)
@given(change=mutated())
def test_files_with_several_changes_are_checked_to_the_end(tmp_path: Path, change: tuple[str, Any]) -> None:
    check_bytes(tmp_path, dumped(change[1]))


def is_name_of_domain(place: tuple[Any, ...]) -> bool:
    return place[:1] == ("domains",) and place[2:] == ("name",)


def is_name_of_memory(place: tuple[Any, ...]) -> bool:
    """Of a component's memory, which others name."""
    return place[:1] == ("components",) and place[2:3] == ("memory",) and place[4:] == ("name",)


def is_memory_of_domain(place: tuple[Any, ...]) -> bool:
    return place[:1] == ("domains",) and place[2:3] == ("memory",)


def is_listed(place: tuple[Any, ...]) -> bool:
    """Whether it is a core, or a color of the cache or of banks, of a domain or the hypervisor."""
    return place[-2:-1] in {("cpus",), ("colors",)}


@settings(SLOW_OK, max_examples=150)
@given(data=st.data())
def test_one_wrong_value_is_reported_where_it_is(tmp_path: Path, data: st.DataObject) -> None:
    """An error is reported in its lines, with its key.

    Exceptions: a changed name of a domain, or of a component's memory, is reported where the old one is used;
    valid memory that does not contain the domain's image, at the image; what a chain needs and its flows or
    ends do not have, at the chain; a valid core or color that others use, too, at its list; budgets that are
    missing without `overcommit`, at the domains.
    """
    tree = copy.deepcopy(data.draw(st.sampled_from(TREES)))
    place = data.draw(st.sampled_from(places(tree)))
    holder, old = at(tree, place[:-1]), at(tree, place)
    holder[place[-1]] = copy.deepcopy(data.draw(st.sampled_from(WILD)))
    text, where = in_lines(tree)
    problems = check_bytes(tmp_path, text.encode())
    first, last = where[place]
    mine = [problem for problem in problems if first <= problem.line <= last]
    assert {problem.file for problem in problems} <= {str(tmp_path / "system.yaml")}
    if problems and not mine and place[0] == "isolation":  # a valid value, for which there are too few colors
        assert {problem.code for problem in problems} == {"colors-exhausted"}, (place, problems)
    elif problems and not mine and place[0] == "regulation":  # a valid value, with which budgets are needed
        assert {problem.code for problem in problems} == {"memory-unbounded"}, (place, problems)
    elif problems and not mine and all(one.key.startswith("chains") for one in problems):
        assert tree["chains"], "a chain needs properties of its flows and of its ends"
    elif problems and not mine and is_memory_of_domain(place):
        images = key_text((*place[:2], "image"))
        assert all(problem.key.startswith(images) for problem in problems), (place, problems)
    elif problems and not mine and is_listed(place):
        assert {problem.key for problem in problems} == {key_text(place[:-1])}, (place, problems)
    elif problems and not mine:
        assert is_name_of_domain(place) or is_name_of_memory(place), (place, problems)
        shown = text.splitlines()
        for problem in problems:
            assert problem.code == "unknown-name" and f"'{old}'" in problem.cause, problem
            assert json.dumps(old) in shown[problem.line - 1], problem
    region = key_text(place[:-1])  # which overlaps another one because of its start or its size
    assert all(
        problem.key.startswith(key_text(place)) or (problem.code, problem.key) == ("overlap", region)
        for problem in mine
    ), (place, mine)


@pytest.mark.slow
@settings(SLOW_OK, max_examples=100)
@given(data=st.data())
def test_a_key_that_is_gone_is_reported_by_name_where_it_was(tmp_path: Path, data: st.DataObject) -> None:
    tree = copy.deepcopy(data.draw(st.sampled_from(TREES)))
    place = data.draw(st.sampled_from([one for one in places(tree) if isinstance(one[-1], str)]))
    del at(tree, place[:-1])[place[-1]]
    text, where = in_lines(tree)
    problems = check_bytes(tmp_path, text.encode())
    if missing := [problem for problem in problems if problem.code == "missing-key"]:
        first, last = where[place[:-1]]
        keys = {key_text(place), key_text(place[:-1])}
        if place == ("components",):  # a file without it may be meant to have domains
            keys.add("domains")
        assert {problem.key for problem in missing} <= keys
        assert all(f"{place[-1]}" in problem.text() for problem in missing), (place, missing)
        assert all(first <= problem.line <= last for problem in missing), (place, missing)


@pytest.mark.parametrize("tree", TREES, ids=["full", *(path.stem for path in GOOD)])
def test_every_misspelt_key_is_an_error_that_names_it(tmp_path: Path, tree: Any) -> None:
    """No key is ever ignored, at any place."""
    for place in places(tree):
        changed = copy.deepcopy(tree)
        holder = at(changed, place[:-1])
        if not isinstance(holder, dict) or place[-2:-1] in (("params",), ("report",)):
            continue
        holder["zzz_" + place[-1]] = holder.pop(place[-1])
        text, where = in_lines(changed)
        first, _ = where[*place[:-1], "zzz_" + place[-1]]
        problems = check_bytes(tmp_path, text.encode())
        assert any("zzz_" in problem.key and problem.line == first for problem in problems), place


@settings(SLOW_OK, max_examples=100)
@given(data=st.data())
def test_damaged_text_is_checked_to_the_end(tmp_path: Path, data: st.DataObject) -> None:
    text = bytearray(data.draw(st.sampled_from(TEXTS)))
    kind = data.draw(st.sampled_from(["truncate", "bytes", "insert"]))
    where = data.draw(st.integers(0, len(text) - 1))
    if kind == "truncate":
        text = text[:where]
    elif kind == "bytes":
        text[where : where + 4] = data.draw(st.binary(min_size=1, max_size=8))
    else:
        text[where:where] = data.draw(
            st.sampled_from([b"[", b"}", b'"', b"&a ", b"*a", b"\t", b"\r", b"\n---\n", b"? ", b"!x "])
        )
    check_bytes(tmp_path, bytes(text))


@settings(SLOW_OK, max_examples=100)
@example(data=b"\r\xc3\x80")  # YAML's second line, of a file that has one
@given(data=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_noise_is_refused(tmp_path: Path, data: bytes) -> None:
    assert check_bytes(tmp_path, data) != ()


PLATFORM_TREE = YAML(typ="safe", pure=True).load(PLATFORM.read_text())


@settings(SLOW_OK, max_examples=100)
@given(data=st.data())
def test_broken_platforms_are_refused(tmp_path: Path, data: st.DataObject) -> None:
    tree = copy.deepcopy(PLATFORM_TREE)
    place = data.draw(st.sampled_from(places(tree)))
    holder = at(tree, place[:-1])
    if data.draw(st.booleans()):
        holder[place[-1]] = copy.deepcopy(data.draw(st.sampled_from(WILD)))
    else:
        del holder[place[-1]]
    path = tmp_path / "board.yaml"
    path.write_bytes(dumped(tree))
    platform, _, problems = load_platform(path, "./board.yaml")
    assert_well_formed(tuple(problems), path.read_bytes())
    assert (platform is None) == bool(problems)
    system = tmp_path / "system.yaml"
    system.write_text(SMALL.replace("platform: qemu-virt", "platform: ./board.yaml"))
    for problem in check_file(str(system)).problems:
        assert problem.cause
