# SPDX-License-Identifier: Apache-2.0
"""Packs and unpacks records by name, by the same file from which the C header is generated.

Used by the manifest builder and by readers of the statistics pages. It does not know the meaning of any
record. A value is never truncated: one that does not fit is an error."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias, TypeVar

from bulkhead.env.paths import layout_file
from bulkhead.errors import InvalidInput
from bulkhead.schema.model import SCALAR_BYTES, Enum, Field, Record, Schema
from bulkhead.schema.parse import read_schema

Value: TypeAlias = "int | str | Mapping[str, Value] | Sequence[Value]"
T = TypeVar("T")
Buffer: TypeAlias = bytes | bytearray | memoryview

DEFAULT_LAYOUT = layout_file()
_STEP = re.compile(r"(?P<name>[a-z0-9_]+)(?:\[(?P<index>\d+)\])?\Z")


class LayoutError(InvalidInput):
    """A value does not fit its field, or a name is not in the layout; the message says which."""


@dataclass(frozen=True)
class Kept:
    """A region of a system: [pa, pa + bytes), and how much of it a guest has at the same address."""

    name: str
    at: str  # path of the field of the manifest's header that says where it is
    pa: int
    bytes: int
    mapped: bool
    guest_bytes: int


class Layout:
    """One schema with the operations on bytes."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    @property
    def hash(self) -> int:
        return self.schema.layout_hash

    @property
    def version(self) -> int:
        return self.schema.version

    # --- names ----------------------------------------------------------------------------------------

    def constant(self, name: str) -> int:
        return _found(self.schema.constants, name, "constant").value

    def enum(self, name: str) -> dict[str, int]:
        return {member.name: member.value for member in self._enum(name).members}

    def enum_value(self, enum: str, member: str) -> int:
        return _found(self.enum(enum), member, f"member of enum '{enum}'")

    def enum_name(self, enum: str, value: int) -> str | None:
        """The member's name, or None: readers must not fail because of a newer or broken writer."""
        return next((member.name for member in self._enum(enum).members if member.value == value), None)

    def size(self, record: str) -> int:
        return self._record(record).bytes

    def offset(self, record: str, path: str) -> int:
        """Offset of a field, e.g. `offset("status_system", "domains[2].state")`."""
        return self.locate(record, path)[0]

    def locate(self, record: str, path: str) -> tuple[int, Field]:
        """(offset, field) of a dotted path with optional indexes."""
        offset, entry = 0, None
        current: str | None = record
        for step in path.split("."):
            match = _STEP.match(step)
            if match is None or current is None:
                raise LayoutError(f"'{path}' is not a path into '{record}'")
            entry = self._field(current, match["name"])
            offset += entry.offset
            if match["index"] is not None:
                index = int(match["index"])
                if entry.length is None or index >= entry.length:
                    raise LayoutError(f"'{record}.{path}': no element {index} in {entry.spelling}")
                offset += index * entry.element_bytes
            current = entry.type if entry.type in self.schema.records else None
        assert entry is not None
        return offset, entry

    def regions(self, header: Mapping[str, Value], cores: int) -> list[Kept]:
        """The regions of a manifest with this header and this number of cores (`regions` of the layout)."""
        found: list[Kept] = []
        for region in self.schema.regions.values():
            version = _at(header, "platform.gic_version")
            if region.gic is not None and self.enum_value("gic_version", region.gic) != version:
                continue
            pa = _at(header, region.at)
            size = region.bytes if isinstance(region.bytes, int) else _at(header, region.bytes)
            guest = region.guest_bytes + cores * region.guest_bytes_per_core
            if pa != 0:
                name = region.name.replace("_", " ")
                found.append(Kept(name, region.at, pa, size, region.mapped, guest))
        return found

    # --- bytes ----------------------------------------------------------------------------------------

    def pack(self, record: str, values: Mapping[str, Value]) -> bytes:
        """The record's bytes. Every field must be given except `reserved` ones, which are zero by default."""
        return self._pack(self._record(record), values, record)

    def unpack(self, record: str, buffer: Buffer, offset: int = 0) -> dict[str, Value]:
        """All fields of the record at `offset`; raises LayoutError if the buffer is too short."""
        entry = self._record(record)
        view = memoryview(buffer)
        if offset < 0 or offset + entry.bytes > len(view):
            needed = f"{record} needs {entry.bytes} bytes at offset {offset}"
            raise LayoutError(f"{needed}, the buffer has {len(view)}")
        return self._unpack(entry, view[offset : offset + entry.bytes])

    def _pack(self, record: Record, values: Mapping[str, Value], where: str) -> bytes:
        known = {f.name for f in record.fields}
        for name in values:
            if name not in known:
                names = ", ".join(f.name for f in record.fields)
                raise LayoutError(f"{where}: no field '{name}' (fields: {names})")
        parts: list[bytes] = []
        for entry in record.fields:
            if entry.name not in values:
                if not entry.reserved:
                    raise LayoutError(f"{where}: field '{entry.name}' is missing")
                parts.append(bytes(entry.bytes))
            else:
                parts.append(self._pack_field(entry, values[entry.name], f"{where}.{entry.name}"))
        return b"".join(parts)

    def _pack_field(self, entry: Field, value: Value, where: str) -> bytes:
        if entry.type == "char":
            return _pack_text(entry, value, where)
        if entry.length is None:
            return self._pack_element(entry, value, where)
        if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
            raise LayoutError(f"{where}: expected {entry.length} values, got {value!r}")
        if len(value) != entry.length:
            raise LayoutError(f"{where}: expected {entry.length} values, got {len(value)}")
        return b"".join(self._pack_element(entry, v, f"{where}[{i}]") for i, v in enumerate(value))

    def _pack_element(self, entry: Field, value: Value, where: str) -> bytes:
        if entry.type in SCALAR_BYTES:
            if isinstance(value, bool) or not isinstance(value, int):
                raise LayoutError(f"{where}: expected an integer, got {value!r}")
            try:
                return value.to_bytes(entry.element_bytes, "little", signed=entry.signed)
            except OverflowError:
                message = f"{where}: {value} ({value:#x}) does not fit {entry.type}"
                raise LayoutError(message) from None
        if not isinstance(value, Mapping):
            raise LayoutError(f"{where}: expected the fields of {entry.type}, got {value!r}")
        return self._pack(self._record(entry.type), value, where)

    def _unpack(self, record: Record, view: memoryview) -> dict[str, Value]:
        return {f.name: self._unpack_field(f, view[f.offset : f.offset + f.bytes]) for f in record.fields}

    def _unpack_field(self, entry: Field, view: memoryview) -> Value:
        if entry.type == "char":
            return bytes(view).partition(b"\0")[0].decode("utf-8", "replace")
        size = entry.element_bytes
        elements = [self._unpack_element(entry, view[i : i + size]) for i in range(0, entry.bytes, size)]
        return elements[0] if entry.length is None else elements

    def _unpack_element(self, entry: Field, view: memoryview) -> Value:
        if entry.type in SCALAR_BYTES:
            return int.from_bytes(view, "little", signed=entry.signed)
        return self._unpack(self._record(entry.type), view)

    # --- look-ups -------------------------------------------------------------------------------------

    def _record(self, name: str) -> Record:
        return _found(self.schema.records, name, "record")

    def _enum(self, name: str) -> Enum:
        return _found(self.schema.enums, name, "enum")

    def _field(self, record: str, name: str) -> Field:
        fields = {f.name: f for f in self._record(record).fields}
        return _found(fields, name, f"field of '{record}'")


def _at(header: Mapping[str, Value], path: str) -> int:
    value: Value = header
    for step in path.split("."):
        assert isinstance(value, Mapping)
        value = value[step]
    assert isinstance(value, int)
    return value


def _found(table: Mapping[str, T], name: str, what: str) -> T:
    if name not in table:
        raise LayoutError(f"no {what} named '{name}' (there are: {', '.join(table)})")
    return table[name]


def _pack_text(entry: Field, value: Value, where: str) -> bytes:
    """Zero-padded UTF-8 that always keeps one zero at its end, so that C may read it as a string."""
    if not isinstance(value, str):
        raise LayoutError(f"{where}: expected text, got {value!r}")
    if "\0" in value:
        raise LayoutError(f"{where}: {value!r} contains a zero character")
    encoded = value.encode("utf-8")
    if len(encoded) >= entry.bytes:
        raise LayoutError(f"{where}: {value!r} has {len(encoded)} bytes, at most {entry.bytes - 1} fit")
    return encoded.ljust(entry.bytes, b"\0")


@cache
def load_layout(path: Path = DEFAULT_LAYOUT) -> Layout:
    """The layout of a file, by default of the repository's `schema/manifest.yaml`."""
    return Layout(read_schema(path))
