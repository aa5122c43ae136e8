# SPDX-License-Identifier: Apache-2.0
"""The kernel's resctrl file system: what it offers, which groups there are, and writes to one group.

Facts of the interface: Linux Documentation/filesystems/resctrl.rst, fs/resctrl/ctrlmondata.c; with MPAM
Documentation/arch/arm64/mpam.rst. Nothing here knows system files. Bitmaps have at most 32 bits, bandwidth is
in whole percent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bulkhead.errors import BulkheadError

MOUNT = Path("/sys/fs/resctrl")
CACHES = ("L3", "L2")
MB = "MB"
MOST_PERCENT = 100
_NO_GROUPS = ("info", "mon_groups", "mon_data")

Values = Mapping[int, int]  # by the id of a cache, or of a domain of bandwidth


class ResctrlError(BulkheadError):
    """The tree is not resctrl's, or the kernel refused a write."""


@dataclass(frozen=True)
class CacheInfo:
    """A cache that can be divided. `names`: names of its lines in `schemata`; two if the file system is
    mounted with `cdp`, for data and code."""

    names: tuple[str, ...]
    portions: int
    least: int  # portions in a row of a mask, at least
    sparse: bool  # masks may have gaps
    shareable: int  # portions that devices may use, too

    @property
    def name(self) -> str:
        return self.names[0][:2]


@dataclass(frozen=True)
class BandwidthInfo:
    least: int  # percent
    step: int


@dataclass(frozen=True)
class Offer:
    """Controls that the kernel offers here."""

    cache: CacheInfo | None
    bandwidth: BandwidthInfo | None
    groups: int  # most groups, including the default one


@dataclass(frozen=True)
class ResctrlGroup:
    """A control group; "" is the default one, which has every task and CPU that is in no other group."""

    name: str
    schemata: Mapping[str, Values]
    cpus: tuple[int, ...]
    occupancy: Mapping[int, int]  # bytes in each L3, of monitors that have a value


def offer_of(root: Path) -> Offer:
    info = root / "info"
    if not info.is_dir():
        raise ResctrlError(f"{root} has no 'info': resctrl is not mounted there")
    caches = [found for level in CACHES if (found := _cache(info, level)) is not None]
    closids = [_number(path) for path in sorted(info.glob("*/num_closids"))]
    if not closids:
        raise ResctrlError(f"{info} describes no resource that can be controlled")
    return Offer(caches[0] if caches else None, _bandwidth(info), min(closids))


def _cache(info: Path, level: str) -> CacheInfo | None:
    """The last level that has masks; L2 only if L3 has none."""
    names = tuple(
        name for name in (level, f"{level}DATA", f"{level}CODE") if (info / name / "cbm_mask").exists()
    )
    if not names:
        return None
    at = info / names[0]
    mask = _number(at / "cbm_mask", 16)
    if mask == 0 or mask & (mask + 1):
        raise ResctrlError(f"{at / 'cbm_mask'} is not a mask of whole portions: {mask:x}")
    sparse = at / "sparse_masks"  # since Linux 6.7; before, hardware that allows gaps was not told apart
    shareable = at / "shareable_bits"
    return CacheInfo(
        names,
        mask.bit_length(),
        max(1, _number(at / "min_cbm_bits")),
        sparse.exists() and _number(sparse) == 1,
        _number(shareable, 16) if shareable.exists() else 0,
    )


def _bandwidth(info: Path) -> BandwidthInfo | None:
    at = info / MB
    if not (at / "min_bandwidth").exists():
        return None
    return BandwidthInfo(_number(at / "min_bandwidth"), max(1, _number(at / "bandwidth_gran")))


def groups_of(root: Path) -> tuple[ResctrlGroup, ...]:
    """The default group, then the others by name."""
    found = [read_group(root, "")]
    names = sorted(path.name for path in root.iterdir() if path.is_dir() and path.name not in _NO_GROUPS)
    return (*found, *(read_group(root, name) for name in names if (root / name / "schemata").exists()))


def read_group(root: Path, name: str) -> ResctrlGroup:
    at = root / name
    cpus = at / "cpus_list"
    return ResctrlGroup(
        name,
        parse_schemata(_text(at / "schemata")),
        parse_cpus(_text(cpus)) if cpus.exists() else (),
        _occupancy(at / "mon_data"),
    )


def parse_schemata(text: str) -> dict[str, dict[int, int]]:
    """Lines as `L3:0=ff;1=f0`; masks are hexadecimal, all else is decimal. Names and values may be padded."""
    found: dict[str, dict[int, int]] = {}
    for line in text.splitlines():
        name, colon, values = line.strip().partition(":")
        if not colon:
            continue
        base = 16 if name[:2] in CACHES else 10
        try:
            pairs = [pair.partition("=")[::2] for pair in values.split(";") if pair]
            found[name.strip()] = {int(one): int(value.strip(), base) for one, value in pairs}
        except ValueError as error:
            raise ResctrlError(f"unknown form of a line of schemata: {line.strip()}") from error
    return found


def schemata_text(values: Mapping[str, Values]) -> str:
    lines = []
    for name, pairs in values.items():
        form = "x" if name[:2] in CACHES else "d"
        lines.append(
            f"{name}:" + ";".join(f"{one}={value:{form}}" for one, value in sorted(pairs.items())) + "\n"
        )
    return "".join(lines)


def parse_cpus(text: str) -> tuple[int, ...]:
    """`0,2-3` as 0, 2, 3."""
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    return tuple(found)


def cache_bytes(root: Path, cache: CacheInfo) -> int | None:
    """Size of one cache, from the size of the default group's part; None: the kernel does not state it."""
    size = root / "size"
    if not size.exists():
        return None
    sizes = {
        name.strip(): values for name, _, values in (line.partition(":") for line in _text(size).splitlines())
    }
    masks = parse_schemata(_text(root / "schemata")).get(cache.names[0], {})
    text = sizes.get(cache.names[0])
    if text is None:
        return None
    for pair in text.split(";"):
        one, _, nbytes = pair.partition("=")
        mask = masks.get(int(one), 0)
        if mask:
            return int(nbytes) * cache.portions // mask.bit_count()
    return None


def write(root: Path, name: str, file: str, text: str) -> None:
    """A single write; ResctrlError with the kernel's reason."""
    try:
        (root / name).mkdir(exist_ok=True)
        (root / name / file).write_text(text)
    except OSError as error:
        status = root / "info" / "last_cmd_status"
        said = status.read_text().strip() if status.exists() else ""
        reason = said if said and said != "ok" else error.strerror
        raise ResctrlError(f"{root / name / file}: the kernel refuses {text.strip()!r}: {reason}") from error


def _occupancy(at: Path) -> dict[int, int]:
    found = {}
    for path in sorted(at.glob("mon_L3_*/llc_occupancy")):
        text = _text(path).strip()
        match = re.fullmatch(r"mon_L3_(\d+)", path.parent.name)
        if match and text.isdecimal():  # otherwise `Unavailable`, or `Error`
            found[int(match[1])] = int(text)
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise ResctrlError(f"{path}: cannot be read: {error.strerror}") from error


def _number(path: Path, base: int = 10) -> int:
    text = _text(path).strip()
    try:
        return int(text, base)
    except ValueError as error:
        raise ResctrlError(f"{path} does not contain a number: {text[:40]!r}") from error
