# SPDX-License-Identifier: Apache-2.0
"""No code fetches anything that `bulkhead setup` does not fetch, or that the lock file does not name."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bulkhead.env import board_firmware, c_sources, debian, linux, linux_headers, qemu, qemu_user, store
from bulkhead.env.lock import read_lock
from bulkhead.env.paths import repository
from bulkhead.fetches import fetches

# Modules that may contain download code; the only other place is scripts/setup, which is not Python.
DOWNLOADERS = {"src/bulkhead/env/aptroot.py"}
PROGRAMS = {"apt", "apt-get", "curl", "wget", "pip", "git clone", "git fetch"}
LIBRARIES = {"urllib.request", "http.client", "requests", "httpx", "ftplib", "pip"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    root = repository()
    for directory in ("src", "scripts"):
        for file in sorted((root / directory).rglob("*.py")):
            yield str(file.relative_to(root)), ast.parse(file.read_text())


def called(node: ast.AST) -> str:
    """The last name of the called function, if it is a call."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def beginning(text: ast.expr) -> str:
    """The constant beginning of a string."""
    if isinstance(text, ast.JoinedStr):
        return beginning(text.values[0])
    return text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else ""


def declared() -> dict[str, str]:
    """The beginning of the name of each `Fetch(name, …)` in the tree, and its module."""
    return {
        beginning(node.args[0]): name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and called(node) == "Fetch"
    }


def test_every_fetch_is_in_the_table() -> None:
    table = set(fetches())
    for begin, module in declared().items():
        fits = begin.removesuffix("-") in table or any(
            name.startswith(begin) for name in table if begin[-1:] == "-"
        )
        assert fits, f"{module} fetches '{begin}', which bulkhead.fetches does not name"
    assert len(declared()) >= len(table)


def test_nothing_else_downloads() -> None:
    """Packages are fetched by `store.obtain`, so that they are cached, checked and locked."""
    for name, tree in modules():
        words = {
            value.value
            for node in ast.walk(tree)
            if isinstance(node, ast.List | ast.Tuple | ast.Call)
            for value in (node.args if isinstance(node, ast.Call) else node.elts)
            if isinstance(value, ast.Constant) and isinstance(value.value, str)
        }
        imports = {
            imported
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for imported in (
                [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            )
        }
        found = (words & PROGRAMS) | (imports & LIBRARIES)
        assert not found or name in DOWNLOADERS, f"{name} downloads by {', '.join(sorted(found))}"


def test_the_table_fetches_what_its_names_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each function obtains the entry under which it is listed."""
    asked: list[str] = []

    def obtain(fetch: store.Fetch) -> Path:
        asked.append(fetch.key.partition("/")[0])
        raise LookupError

    monkeypatch.setattr(store, "obtain", obtain)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(linux_headers, "kernel_release", lambda: "6.1.0-50-arm64")
    for cached in (
        *(qemu.qemu_binary, qemu.own_qemu, linux._kernel_directory, linux._busybox_directory),
        *(board_firmware.board_firmware, debian.debian_root),
        *(linux_headers.linux_headers, qemu_user.qemu_user, qemu_user.arm64_root),
        *(c_sources.sqlite_source, c_sources.duktape_source),
    ):
        cached.cache_clear()
    table = fetches()
    for fetch in table.values():
        with pytest.raises(LookupError):
            fetch()
    assert asked == list(table)
    qemu.own_qemu.cache_clear()


def test_the_lock_names_all_that_is_fetched() -> None:
    assert {key.partition("/")[0] for key in read_lock()} == set(fetches())
