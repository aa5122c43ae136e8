# SPDX-License-Identifier: Apache-2.0
"""The hypervisor's check of its manifest at boot: the same sources (core/), compiled for this Python.

Called by `accept`. Builds the modules when they are out of date. If they cannot be built, there is no
verdict, and the caller reports that.
"""

from __future__ import annotations

from functools import cache
from typing import Protocol, cast

from bulkhead.config.problem import Finding, KeyPath
from bulkhead.env.compiled import compiled_path, core_modules, load_compiled
from bulkhead.package.program import FULL, SPACE, Program
from bulkhead.schema import Layout

MODULES: dict[Program, str] = {FULL: "_manifest", SPACE: "_manifest_space"}
# Tables whose rows belong to a domain: (table, record, field with the number of its domain).
_OF_DOMAINS = (
    ("segments", "manifest_segment", "segment"),
    ("images", "manifest_image", "image"),
    ("irqs", "manifest_irq", "irq"),
    ("devices", "manifest_device", "device"),
    ("calls", "manifest_call", "call"),
    ("vcpus", "manifest_vcpu", "vcpu"),
)
_KEYS = {
    "segments": "memory",
    "images": "image",
    "irqs": "devices",
    "devices": "devices",
    "calls": "firmware",
    "vcpus": "cpus",
}


class ManifestCheck(Protocol):
    """The module (bindings/manifest/module.cpp)."""

    def verdict_on(self, manifest: bytes, package_bytes: int) -> tuple[int, int]:
        """Returns (error of enum manifest_error, offset in the manifest)."""

    def owner_of(self, manifest: bytes, pa: int, bytes: int) -> int | None:  # noqa: A002
        """For an accepted manifest: offset of the record that owns part of these pages; None: they have no
        owner."""


@cache
def manifest_check(program: Program) -> ManifestCheck:
    """The compiled module. Raises BuildFailed, or MissingTool if it cannot be built."""
    core_modules()
    path = compiled_path("bindings/manifest", MODULES[program])
    what = "the hypervisor's check of a manifest"
    return cast("ManifestCheck", load_compiled(path, MODULES[program], what, "was not built"))


def refusal(
    manifest: bytes, package_bytes: int, load_pa: int, program: Program, layout: Layout
) -> Finding | None:
    """Why the hypervisor would refuse this manifest; None: it accepts it."""
    check = manifest_check(program)
    error, offset = check.verdict_on(manifest, package_bytes)
    name = layout.enum_name("manifest_error", error) or str(error)
    if name == "none":
        owner = check.owner_of(manifest, load_pa, package_bytes)
        if owner is None:
            return None
        name, offset = "load_area", owner
        error = layout.enum_value("manifest_error", name)
    key, place = _place(manifest, offset, layout)
    cause = (
        f"the hypervisor would refuse this manifest: {name.replace('_', ' ')} (error {error}) at {place} "
        "of the manifest"
    )
    return Finding(key, "refused", cause)


def _place(manifest: bytes, offset: int, layout: Layout) -> tuple[KeyPath, str]:
    """The key of the system file that an offset of the manifest concerns, if known, and the table's row as
    text."""
    header = layout.unpack("manifest_header", manifest)
    domains = _rows(header, "domains")
    size = layout.size("manifest_domain")
    if 0 <= (row := (offset - domains[0]) // size) < domains[1]:
        return ("domains", row), f"domains/{row} + {(offset - domains[0]) % size}"
    for table, record, name in _OF_DOMAINS:
        start, count = _rows(header, table)
        row = (offset - start) // layout.size(record)
        if not 0 <= row < count:
            continue
        for number in range(domains[1]):
            domain = layout.unpack("manifest_domain", manifest, domains[0] + number * size)
            first, own = _integer(domain[f"first_{name}"]), _integer(domain[f"{name}_count"])
            if first <= row < first + own:
                return ("domains", number, _KEYS[table]), f"{table}/{row}"
        return ("domains",), f"{table}/{row}"
    return (), f"byte {offset}"


def _rows(header: object, table: str) -> tuple[int, int]:
    reference = cast("dict[str, dict[str, int]]", header)[table]
    return reference["offset"], reference["count"]


def _integer(value: object) -> int:
    assert isinstance(value, int)
    return value
