# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/reference/statistics.md and manifest.md from schema/manifest.yaml.

    PYTHONPATH=src:scripts build/venv/bin/python scripts/layout_reference.py [--check]

`--check` writes nothing, and ends 1 if a page is not what would be written. The text of manifest.md around
its tables is kept.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from bulkhead.schema import load_layout
from bulkhead.schema.model import SCALAR_BYTES, Constant, Enum, Field, LayoutRegion, Record, Schema
from generated import REFERENCE, between_marks, write_or_check

RowOf = Callable[[Field, Collection[str]], list[str]]  # a field, and what the page has links for

STATISTICS = REFERENCE / "statistics.md"
MANIFEST = REFERENCE / "manifest.md"
_SCRIPT = Path(__file__).name
# By a field's name, or by the last word of it.
_UNITS = {
    **dict.fromkeys(("min", "max", "sum"), "ticks"),
    **dict.fromkeys(("load_min", "load_max", "load_sum"), "1/65536"),
    "budget": "events",
    "ticks": "ticks",
    "events": "events",
    "ns": "ns",
    "bytes": "bytes",
    "hz": "Hz",
    "at": "counter value",
    "time": "counter value",
    "utilization": "1/65536",
}
_STATISTICS = """\
EL2 writes counters into the pages of its section `status`, which begins at the symbol `status_pages`.
Page 0 is `status_system`, and page 1 + n is `status_core` of core n. The other records are in these, or
in frames of the hypervisor's pool that these name. They may be read from outside at any time. All counts
grow. Ticks are those of the counter, whose frequency is in `status_system`. `bulkhead run` makes its
[results](results.md) from these pages. A manager reads samples by a
[hypercall](hypercalls.md#sample_read)."""


def pages() -> dict[Path, str]:
    """The text of both pages."""
    schema = load_layout().schema
    return {
        STATISTICS: statistics_page(schema),
        MANIFEST: between_marks(MANIFEST, _SCRIPT, manifest_tables(schema)),
    }


def statistics_page(schema: Schema) -> str:
    records = [record for name, record in schema.records.items() if name.startswith("status_")]
    order = ["status_system", "status_core"]
    records.sort(key=lambda record: order.index(record.name) if record.name in order else len(order))
    head = f"<!-- Written by scripts/{_SCRIPT} from schema/manifest.yaml. -->\n\n"
    tables = _tables(schema, records, "##", ["field", "unit", "meaning"], _statistics_row)
    return f"{head}# Statistics\n\n{' '.join(_STATISTICS.split())}\n\n{tables}\n"


def manifest_tables(schema: Schema) -> str:
    records = [record for name, record in schema.records.items() if not name.startswith("status_")]
    parts = [
        "## Records",
        "",
        "Offsets are in bytes. Fields that are `reserved` are zero.",
        "",
        _tables(schema, records, "###", ["offset", "field", "type", "meaning"], _layout_row),
        "",
        "## Regions",
        "",
        *_table(["region", "address", "bytes", "mapped at EL2"], map(_region_row, schema.regions.values())),
        "",
        "## Constants",
        "",
        *_table(
            ["constant", "value", "meaning"],
            (_constant_row(one) for one in schema.constants.values() if "hypercall" not in one.name),
        ),
    ]
    return "\n".join(parts) + "\n"


def fields_without_meaning(schema: Schema) -> list[str]:
    return [
        f"{record.name}.{field.name}"
        for record in schema.records.values()
        for field in record.fields
        if not field.comment and not field.reserved
    ]


def _tables(schema: Schema, records: Sequence[Record], level: str, columns: list[str], row: RowOf) -> str:
    """A table for each record, and one for each enum that they mention."""
    said = " ".join(field.comment for record in records for field in record.fields)
    enums = [enum for enum in schema.enums.values() if re.search(rf"\b{enum.name}\b", said)]
    here = {record.name for record in records} | {enum.name for enum in enums}
    lines: list[str] = []
    for record in records:
        lines += [f"{level} {record.name}", "", f"{_linked(record.comment, here)} {record.bytes} bytes.", ""]
        lines += [*_table(columns, (row(field, here) for field in record.fields)), ""]
    for enum in enums:
        lines += [f"{level} {enum.name}", "", *_enum(enum), ""]
    return "\n".join(lines[:-1])


def _table(columns: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"| {' | '.join('---' for _ in columns)} |"
    yield from (f"| {' | '.join(cell or '–' for cell in row)} |" for row in rows)


def _statistics_row(field: Field, here: Collection[str]) -> list[str]:
    unit = _UNITS.get(field.name, "") or _UNITS.get(field.name.rpartition("_")[2], "")
    length = "" if field.length is None else f"[{field.length}]"
    if field.type not in SCALAR_BYTES:
        unit = ""
    return [f"`{field.name}{length}`", unit, _linked(_typed(field), here)]


def _layout_row(field: Field, here: Collection[str]) -> list[str]:
    spelling = f"`{field.spelling}`" if field.type not in here else _linked(field.spelling, here)
    return [str(field.offset), f"`{field.name}`", spelling, _linked(field.comment, here)]


def _typed(field: Field) -> str:
    """The meaning, with the record that the field is of."""
    return field.comment if field.type in SCALAR_BYTES else f"{field.comment}: {field.type}"


def _region_row(region: LayoutRegion) -> list[str]:
    size = f"`{region.bytes}`" if isinstance(region.bytes, str) else f"{region.bytes:#x}"
    name = f"`{region.name}`" + (f" ({region.gic})" if region.gic else "")
    return [name, f"`{region.at}`", size, "yes" if region.mapped else "no"]


def _constant_row(constant: Constant) -> list[str]:
    value = f"{constant.value:#x}" if constant.hexadecimal else str(constant.value)
    return [f"`{constant.name}`", value, _escaped(constant.comment)]


def _enum(enum: Enum) -> Iterator[str]:
    if enum.comment:
        yield from (_escaped(enum.comment), "")
    if any(member.comment for member in enum.members):
        rows = ([str(one.value), f"`{one.name}`", _escaped(one.comment)] for one in enum.members)
        yield from _table(["value", "name", "meaning"], rows)
    else:
        yield ", ".join(f"`{one.name}` {one.value}" for one in enum.members) + "."


def _linked(text: str, here: Collection[str]) -> str:
    """With names of records and enums of the page as links."""
    return re.sub(
        r"\b[a-z]\w+\b",
        lambda word: f"[{word[0]}](#{word[0]})" if word[0] in here else word[0],
        _escaped(text),
    )


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    sys.exit(write_or_check(pages(), __doc__))
