# SPDX-License-Identifier: Apache-2.0
"""Contents of a layout file: constants, enums, and records with computed offsets.

Filled by `parse`, used by the C generator and by the packer. Holds no bytes and does no I/O."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from functools import cached_property

from bulkhead.errors import InvalidInput

SCALAR_BYTES: dict[str, int] = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i32": 4}


class SchemaError(InvalidInput):
    """The layout file breaks one of its own rules; the message names the file and the line."""


@dataclass(frozen=True)
class Constant:
    name: str
    value: int
    hexadecimal: bool  # written in base 16 in the file, so it is printed in base 16
    comment: str = ""


@dataclass(frozen=True)
class Member:
    name: str
    value: int
    comment: str = ""


@dataclass(frozen=True)
class Enum:
    name: str
    members: tuple[Member, ...]
    comment: str = ""

    @property
    def count(self) -> int:
        """Highest value + 1: the length of an array that is indexed by this enum."""
        return max(member.value for member in self.members) + 1


@dataclass(frozen=True)
class Field:
    name: str
    type: str  # u8 ... u64, i32, char, or the name of a record
    length: int | None  # None: a single value; else an array of that many
    offset: int
    element_bytes: int
    comment: str = ""

    @property
    def bytes(self) -> int:
        return self.element_bytes * (1 if self.length is None else self.length)

    @property
    def signed(self) -> bool:
        return self.type == "i32"

    @property
    def spelling(self) -> str:
        return self.type if self.length is None else f"{self.type}[{self.length}]"

    @property
    def reserved(self) -> bool:
        return self.name.startswith("reserved")


@dataclass(frozen=True)
class Record:
    name: str
    fields: tuple[Field, ...]
    bytes: int
    align: int
    comment: str = ""


@dataclass(frozen=True)
class LayoutRegion:
    """Registers or memory that the hypervisor keeps. Paths lead to fields of a manifest's header."""

    name: str
    at: str  # path of the physical address
    bytes: int | str  # or the path of the size
    gic: str | None  # the only version of the interrupt controller that has it
    mapped: bool
    guest_bytes: int
    guest_bytes_per_core: int
    comment: str = ""


@dataclass(frozen=True)
class Schema:
    version: int
    constants: dict[str, Constant] = field(default_factory=dict)
    enums: dict[str, Enum] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    regions: dict[str, LayoutRegion] = field(default_factory=dict)

    @cached_property
    def canonical_text(self) -> str:
        """Everything that both sides must agree on, and nothing else: no comments, no notation of numbers."""
        lines = [f"version {self.version}"]
        lines += [f"constant {c.name} {c.value}" for c in self.constants.values()]
        for enum in self.enums.values():
            lines += [f"enum {enum.name} {m.name} {m.value}" for m in enum.members]
        for record in self.records.values():
            lines.append(f"record {record.name} {record.bytes}")
            lines += [f"field {record.name} {f.name} {f.offset} {f.spelling}" for f in record.fields]
        for region in self.regions.values():
            size = f"{region.bytes} {region.guest_bytes} {region.guest_bytes_per_core}"
            lines.append(f"region {region.name} {region.at} {region.gic} {size} {int(region.mapped)}")
        return "\n".join(lines) + "\n"

    @cached_property
    def layout_hash(self) -> int:
        return zlib.crc32(self.canonical_text.encode())
