# SPDX-License-Identifier: Apache-2.0
"""Writes a schema as one C header for C11 and C++, which checks itself when it is compiled.

Called by the build through `python -m bulkhead.schema header`. The text depends on the schema alone, so that
it can be compared with a golden file. It writes only constants, enums and structs."""

from __future__ import annotations

from bulkhead.schema.model import Constant, Enum, Field, LayoutRegion, Record, Schema

_C_TYPES = {
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "i32": "int32_t",
    "char": "char",
}

_HEAD = """\
/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Generated from schema/{source} by `python -m bulkhead.schema header`: change that file, not this one.
 * The binary structures that the tool and the hypervisor share. Little-endian, naturally aligned, no
 * hidden padding; the assertions at the end fail the build of whoever sees another layout.
 */
/* clang-format off */
#ifndef BULKHEAD_LAYOUT_H
#define BULKHEAD_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 of the canonical text of the layout. */
#define BH_LAYOUT_HASH 0x{hash:08X}u
#define BH_LAYOUT_VERSION {version}u
"""

_REGIONS = """\
/* Registers and on-chip memory that EL2 keeps: a row of the table below. */
struct bh_region {{
    uint32_t pa_offset; /* of the u64 in the manifest's header with the address; 0 there: none */
    uint32_t bytes_offset; /* of the u64 there with the size; 0: it is `bytes` */
    uint64_t bytes;
    uint64_t guest_bytes; /* what a guest finds at the same guest-physical address */
    uint64_t guest_bytes_per_core;
    uint32_t gic_version; /* the only one of the interrupt controller that has it; 0: any */
    uint32_t mapped; /* 1: EL2 maps it at its physical address */
}};
#define BH_REGION_COUNT {count}u
#define BH_REGION_ROWS \\
{rows}
"""

_ASSERT = """\
#ifdef __cplusplus
#define BH_LAYOUT_ASSERT(condition, text) static_assert(condition, text)
#else
#define BH_LAYOUT_ASSERT(condition, text) _Static_assert(condition, text)
#endif
"""


def c_header(schema: Schema, source: str) -> str:
    """The header's text; `source` is the file name that its first comment gives."""
    parts = [_HEAD.format(source=source, hash=schema.layout_hash, version=schema.version)]
    parts.append("".join(_constant(constant) for constant in schema.constants.values()))
    parts += [_enum(enum) for enum in schema.enums.values()]
    parts += [_struct(record) for record in schema.records.values()]
    if schema.regions:
        rows = " \\\n".join(_region(region, schema) for region in schema.regions.values())
        parts.append(_REGIONS.format(count=len(schema.regions), rows=rows))
    parts.append(_ASSERT)
    parts += [_assertions(record) for record in schema.records.values()]
    parts.append("#undef BH_LAYOUT_ASSERT\n")
    parts.append("#endif /* BULKHEAD_LAYOUT_H */\n")
    return "\n".join(parts)


def _note(comment: str) -> str:
    return f" /* {comment} */" if comment else ""


def _constant(constant: Constant) -> str:
    number = f"0x{constant.value:X}" if constant.hexadecimal else str(constant.value)
    suffix = "u" if constant.value < 1 << 32 else "ull"
    return f"#define BH_{constant.name.upper()} {number}{suffix}{_note(constant.comment)}\n"


def _enum(enum: Enum) -> str:
    prefix = f"BH_{enum.name.upper()}_"
    lines = [f"enum bh_{enum.name} {{{_note(enum.comment)}"]
    lines += [f"    {prefix}{m.name.upper()} = {m.value},{_note(m.comment)}" for m in enum.members]
    lines += ["};", f"#define {prefix}COUNT {enum.count}u /* highest + 1 */"]
    return "\n".join(lines) + "\n"


def _struct(record: Record) -> str:
    lines = [f"struct {record.name} {{{_note(record.comment)}"]
    lines += [f"    {_declaration(f)};{_note(f.comment)}" for f in record.fields]
    lines += ["};"]
    return "\n".join(lines) + "\n"


def _declaration(field: Field) -> str:
    c_type = _C_TYPES.get(field.type, f"struct {field.type}")
    return f"{c_type} {field.name}" + ("" if field.length is None else f"[{field.length}]")


def _region(region: LayoutRegion, schema: Schema) -> str:
    """Without pointers, so that it can be read before the program is at its link address."""
    size_at = f"offsetof(struct manifest_header, {region.bytes})" if isinstance(region.bytes, str) else "0"
    size = 0 if isinstance(region.bytes, str) else region.bytes
    versions = {m.name: m.value for m in schema.enums["gic_version"].members} if region.gic else {}
    cells = [
        f"(uint32_t)offsetof(struct manifest_header, {region.at})",
        f"(uint32_t){size_at}",
        f"0x{size:X}u",
        f"0x{region.guest_bytes:X}u",
        f"0x{region.guest_bytes_per_core:X}u",
        f"{versions.get(region.gic or '', 0)}u",
        f"{int(region.mapped)}u",
    ]
    return f"    {{{', '.join(cells)}}}, /* {region.name} */"


def _assertions(record: Record) -> str:
    struct = f"struct {record.name}"
    lines = [f'BH_LAYOUT_ASSERT(sizeof({struct}) == {record.bytes}u, "size of {record.name}");']
    lines += [
        f'BH_LAYOUT_ASSERT(offsetof({struct}, {f.name}) == {f.offset}u, "{record.name}.{f.name}");'
        for f in record.fields
    ]
    return "\n".join(lines) + "\n"
