# SPDX-License-Identifier: Apache-2.0
"""Modules of the guests' kernel, with those that they need, in the order in which they can be loaded.

Called by the image builder. What a module needs is read from the module itself (`depends=` in its section
.modinfo): the package has no modules.dep, which depmod makes where a kernel is installed. Kernels have their
modules plain or compressed (CONFIG_MODULE_COMPRESS_GZIP, _XZ, _ZSTD); a guest gets them plain.
"""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_PLAIN = ".ko"
_COMPRESSED: Mapping[str, Callable[[bytes], bytes]] = {
    ".ko.gz": gzip.decompress,
    ".ko.xz": lzma.decompress,
}
_UNKNOWN = ".ko.zst"  # what unpacks it is not in Python's library

_DEPENDS = b"\0depends="
_VERMAGIC = b"vermagic="


@dataclass(frozen=True)
class Module:
    """A module's file."""

    path: Path

    @property
    def name(self) -> str:
        """As a guest has it: plain."""
        return self.path.name.partition(".")[0] + _PLAIN

    @cached_property
    def content(self) -> bytes:
        """The module, unpacked. Raises OSError for what is not what its name says."""
        data = self.path.read_bytes()
        unpack = _COMPRESSED.get("".join(self.path.suffixes))
        try:
            return data if unpack is None else unpack(data)
        except (EOFError, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise OSError(f"{self.path} cannot be unpacked: {error}") from error


def load_order(directory: Path, names: tuple[str, ...]) -> list[Module]:
    """The modules `names` below `directory` (lib/modules/VERSION) and all that they need, what is needed
    first. Raises FileNotFoundError for a module that is not there, plain or as gzip or xz."""
    files = {
        path.name.partition(".")[0].replace("-", "_"): Module(path)
        for suffix in (*_COMPRESSED, _PLAIN)  # a plain one is preferred
        for path in sorted(directory.glob(f"kernel/**/*{suffix}"))
    }
    order: dict[str, Module] = {}
    for name in names:
        _add(files, directory, name.replace("-", "_"), order)
    return list(order.values())


def release_of(module: bytes) -> str | None:
    """The release of the kernel that a module was built for; None if it does not say."""
    _, found, rest = module.partition(_VERMAGIC)
    return rest.partition(b"\0")[0].partition(b" ")[0].decode("ascii", "replace") if found else None


def _add(files: dict[str, Module], directory: Path, name: str, order: dict[str, Module]) -> None:
    if name in order:
        return
    if name not in files:
        packed = any(directory.glob(f"kernel/**/*{_UNKNOWN}"))
        why = f" (those with {_UNKNOWN} are to be unpacked with zstd first)" if packed else ""
        raise FileNotFoundError(f"no module {name}{_PLAIN} below {directory}{why}")
    for needed in _needed_by(files[name].content):
        _add(files, directory, needed, order)
    order[name] = files[name]


def _needed_by(module: bytes) -> Iterator[str]:
    _, found, rest = module.partition(_DEPENDS)
    if found:
        text = rest.partition(b"\0")[0].decode("ascii")
        yield from (name.replace("-", "_") for name in text.split(",") if name)
