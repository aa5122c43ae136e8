# SPDX-License-Identifier: Apache-2.0
"""Contents of a domain's memory besides its image: files at addresses, and flash.

Called by `images` after the image is placed. Raises PackageError without the domain's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bulkhead.config import system as config
from bulkhead.config.named import ERASED, FIRMWARE
from bulkhead.env.board_firmware import board_firmware, firmware_is_here
from bulkhead.package.errors import NotHere, PackageError, located, prefixed
from bulkhead.package.files import read_image
from bulkhead.package.memory import LoadedMemory, LoadPiece, LoadRegion, check_pieces

_ERASED_BYTE = b"\xff"


def flash_of(domain: config.Domain) -> tuple[LoadRegion, ...]:
    """The domain's regions of flash."""
    return tuple(LoadRegion(region.at, region.size) for region in domain.memory if region.flash is not None)


def with_contents(
    loaded: LoadedMemory,
    domain: config.Domain,
    memory: Sequence[LoadRegion],
    base: Path,
    *,
    fetch: bool = True,
) -> LoadedMemory:
    """Adds the domain's files and its flash to the image. Files must not overlap the image or each other.

    `base`: the directory that paths are relative to. `fetch`: whether firmware of the tool that is not on
    this machine is fetched; else NotHere is raised.
    """
    files = tuple(
        _piece(f"file {number}", base / one.file, one.at, ("image", "files", number, "file"))
        for number, one in enumerate(domain.image.files)
    )
    with located("image", "files"):
        check_pieces((*loaded.pieces, *files), memory)
    flash = tuple(
        _flash(region.flash, region, number, base, fetch)
        for number, region in enumerate(domain.memory)
        if region.flash is not None
    )
    return replace(loaded, pieces=(*loaded.pieces, *files, *flash))


def _find_flash(name: str, base: Path, fetch: bool) -> Path:
    if name not in FIRMWARE:
        return base / name
    firmware = name.partition(":")[0]
    if not fetch and not firmware_is_here(firmware):
        raise NotHere(f"the firmware '{name}' is not fetched yet")
    return board_firmware(firmware)


def _flash(name: str, region: config.Region, number: int, base: Path, fetch: bool) -> LoadPiece:
    """The region's contents: the file, and erased bytes after its end."""
    key = ("memory", number, "flash")
    content = b""
    if name != ERASED:
        content = _piece("flash", _find_flash(name, base, fetch), region.at, key).data
    if len(content) > region.size:
        with located(*key):
            raise PackageError(f"'{name}' has {len(content):#x} bytes, but its region has {region.size:#x}")
    return LoadPiece("flash", region.at, content.ljust(region.size, _ERASED_BYTE), region.size)


def _piece(name: str, path: Path, at: int, key: Sequence[str | int]) -> LoadPiece:
    with located(*key), prefixed(str(path)):
        content = read_image(path)
        if not content:
            raise PackageError("is empty")
    return LoadPiece(name, at, content, len(content))
