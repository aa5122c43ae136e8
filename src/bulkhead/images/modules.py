# SPDX-License-Identifier: Apache-2.0
"""Modules of the guests' kernel with their dependencies, in load order.

Called by the image builder. Dependencies are read from the module itself (`depends=` in its section
.modinfo): the package has no modules.dep, which depmod makes where a kernel is installed. Kernels have their
modules plain or compressed (CONFIG_MODULE_COMPRESS_GZIP, _XZ, _ZSTD); a guest gets them plain.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bulkhead.images.unpack import UnpackError, is_packed, unpacked

_PLAIN = ".ko"
_PACKED = (".ko.gz", ".ko.xz", ".ko.zst")
_MOST_BYTES = 1 << 28  # of a module

_DEPENDS = b"\0depends="
_VERMAGIC = b"vermagic="


@dataclass(frozen=True)
class Module:
    """A module's file."""

    path: Path

    @property
    def name(self) -> str:
        """The name as in a guest: without the suffix of compression."""
        return self.path.name.partition(".")[0] + _PLAIN

    @cached_property
    def content(self) -> bytes:
        """The module, decompressed. Raises OSError if the content does not match its name."""
        data = self.path.read_bytes()
        if self.path.suffix != _PLAIN and not is_packed(data):
            raise OSError(f"{self.path} is not compressed in the format that its name says")
        try:
            return unpacked(data, _MOST_BYTES)
        except UnpackError as error:
            raise OSError(f"{self.path} {error}") from error


def load_order(directory: Path, names: tuple[str, ...]) -> list[Module]:
    """The modules `names` below `directory` (lib/modules/VERSION) and their dependencies, dependencies first.
    Raises FileNotFoundError for a module that does not exist, plain or compressed."""
    files = _files_below(directory)
    order: dict[str, Module] = {}
    for name in names:
        _add(files, directory, name.replace("-", "_"), order)
    return list(order.values())


def _files_below(directory: Path) -> dict[str, Module]:
    """All modules below `directory`, by name; the plain one of those that are there plain and compressed."""
    found: dict[str, Module] = {}
    for below, directories, names in os.walk(directory / "kernel"):
        directories.sort()
        for file in sorted(names):
            name, _, suffix = file.partition(".")
            name = name.replace("-", "_")
            if f".{suffix}" == _PLAIN or (f".{suffix}" in _PACKED and name not in found):
                found[name] = Module(Path(below, file))
    return found


def release_of(module: bytes) -> str | None:
    """The release of the kernel that a module was built for; None if it does not state one."""
    _, found, rest = module.partition(_VERMAGIC)
    return rest.partition(b"\0")[0].partition(b" ")[0].decode("ascii", "replace") if found else None


def _add(files: dict[str, Module], directory: Path, name: str, order: dict[str, Module]) -> None:
    if name in order:
        return
    if name not in files:
        raise FileNotFoundError(f"there is no module {name}{_PLAIN} below {directory}")
    for needed in _needed_by(files[name].content):
        _add(files, directory, needed, order)
    order[name] = files[name]


def _needed_by(module: bytes) -> Iterator[str]:
    _, found, rest = module.partition(_DEPENDS)
    if found:
        text = rest.partition(b"\0")[0].decode("ascii")
        yield from (name.replace("-", "_") for name in text.split(",") if name)
