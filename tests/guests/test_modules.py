# SPDX-License-Identifier: Apache-2.0
"""Modules of the guests' kernel come with their dependencies, in load order."""

import gzip
import lzma
from pathlib import Path

import pytest
import zstandard

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
    order = [module.name for module in load_order(tmp_path, ("bus", "transport"))]
    assert order == ["bus.ko", "sock.ko", "base_common.ko", "transport.ko"]


def test_compressed_modules_are_unpacked(tmp_path: Path) -> None:
    for name, depends, suffix, pack in (
        ("transport", "sock", ".xz", lzma.compress),
        ("sock", "bus", ".gz", gzip.compress),
        ("bus", "", ".zst", zstandard.compress),
    ):
        module(tmp_path, name, depends)
        path = tmp_path / "kernel" / "net" / f"{name}.ko"
        path.with_name(path.name + suffix).write_bytes(pack(path.read_bytes()))
        path.unlink()
    order = load_order(tmp_path, ("transport",))
    assert [module.name for module in order] == ["bus.ko", "sock.ko", "transport.ko"]
    assert all(module.content.startswith(b"\x7fELF") for module in order)


def test_damaged_and_unknown_compression_is_said(tmp_path: Path) -> None:
    net = tmp_path / "kernel" / "net"
    net.mkdir(parents=True)
    (net / "sock.ko.xz").write_bytes(b"no archive")
    with pytest.raises(OSError, match=r"sock\.ko\.xz is not compressed"):
        load_order(tmp_path, ("sock",))
    (net / "transport.ko.zst").write_bytes(zstandard.compress(b"module" * 100)[:-9])
    with pytest.raises(OSError, match="cannot be unpacked"):
        load_order(tmp_path, ("transport",))
    (net / "other.ko.lz4").write_bytes(b"")
    with pytest.raises(FileNotFoundError, match="other"):
        load_order(tmp_path, ("other",))


def test_a_module_that_is_not_there_is_named(tmp_path: Path) -> None:
    module(tmp_path, "transport", "gone")
    with pytest.raises(FileNotFoundError, match=r"gone\.ko"):
        load_order(tmp_path, ("transport",))
