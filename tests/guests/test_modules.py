# SPDX-License-Identifier: Apache-2.0
"""Modules of the guests' kernel come with what they need, in the order in which they load."""

from pathlib import Path

import pytest

from bulkhead.images.modules import load_order


def module(directory: Path, name: str, depends: str) -> None:
    path = directory / "kernel" / "net" / f"{name}.ko"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF\0license=GPL\0depends=" + depends.encode() + b"\0intree=Y\0")


def test_what_is_needed_comes_first_and_once(tmp_path: Path) -> None:
    module(tmp_path, "transport", "base-common,sock")
    module(tmp_path, "base_common", "sock")
    module(tmp_path, "sock", "")
    module(tmp_path, "bus", "")
    order = [path.stem for path in load_order(tmp_path, ("bus", "transport"))]
    assert order == ["bus", "sock", "base_common", "transport"]


def test_a_module_that_is_not_there_is_named(tmp_path: Path) -> None:
    module(tmp_path, "transport", "gone")
    with pytest.raises(FileNotFoundError, match=r"gone\.ko"):
        load_order(tmp_path, ("transport",))
