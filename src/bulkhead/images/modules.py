# SPDX-License-Identifier: Apache-2.0
"""Modules of the guests' kernel, with those that they need, in the order in which they can be loaded.

Called by the image builder. What a module needs is read from the module itself (`depends=` in its section
.modinfo): the package has no modules.dep, which depmod makes where a kernel is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_DEPENDS = b"\0depends="
_VERMAGIC = b"vermagic="


def load_order(directory: Path, names: tuple[str, ...]) -> list[Path]:
    """Files below `directory` (lib/modules/VERSION) of the modules `names` and of all that they need, what is
    needed first. Raises FileNotFoundError for a module that is not there as an uncompressed file."""
    files = {path.stem.replace("-", "_"): path for path in sorted(directory.glob("kernel/**/*.ko"))}
    order: dict[str, Path] = {}
    for name in names:
        _add(files, directory, name.replace("-", "_"), order)
    return list(order.values())


def release_of(module: bytes) -> str | None:
    """The release of the kernel that a module was built for; None if it does not say."""
    _, found, rest = module.partition(_VERMAGIC)
    return rest.partition(b"\0")[0].partition(b" ")[0].decode("ascii", "replace") if found else None


def _add(files: dict[str, Path], directory: Path, name: str, order: dict[str, Path]) -> None:
    if name in order:
        return
    if name not in files:
        raise FileNotFoundError(f"no module {name}.ko below {directory}")
    for needed in _needed_by(files[name].read_bytes()):
        _add(files, directory, needed, order)
    order[name] = files[name]


def _needed_by(module: bytes) -> Iterator[str]:
    _, found, rest = module.partition(_DEPENDS)
    if found:
        text = rest.partition(b"\0")[0].decode("ascii")
        yield from (name.replace("-", "_") for name in text.split(",") if name)
