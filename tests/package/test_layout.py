# SPDX-License-Identifier: Apache-2.0
"""The binary contract: the C header and the Python packer come from one file, and both use the same bytes.

Golden files: when schema/manifest.yaml changes on purpose, write them again with `BULKHEAD_WRITE_GOLDEN=1
build/venv/bin/pytest tests/package` and read the difference before committing it."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkhead.config.system import MOST_CONNECTIONS, Flow
from bulkhead.schema import Layout, LayoutError, SchemaError, load_layout
from bulkhead.schema.__main__ import main
from bulkhead.schema.header import c_header
from bulkhead.schema.layout import DEFAULT_LAYOUT
from bulkhead.schema.model import SCALAR_BYTES, Field
from bulkhead.schema.parse import parse_schema

LAYOUT = load_layout()
RECORDS = sorted(LAYOUT.schema.records)


def values_of(record: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({f.name: value_of(f) for f in LAYOUT.schema.records[record].fields})


def value_of(field: Field) -> st.SearchStrategy[Any]:
    if field.type == "char":
        text = st.text(st.characters(min_codepoint=1, codec="utf-8"), max_size=field.bytes - 1)
        return text.filter(lambda t: len(t.encode()) < field.bytes)
    if field.type in SCALAR_BYTES:
        values = 1 << 8 * field.element_bytes
        least = -values // 2 if field.signed else 0
        element: st.SearchStrategy[Any] = st.integers(least, least + values - 1)
    else:
        element = values_of(field.type)
    if field.length is None:
        return element
    return st.lists(element, min_size=field.length, max_size=field.length)


@pytest.mark.parametrize("record", RECORDS)
def test_unpacking_what_was_packed_gives_the_same_values(record: str) -> None:
    @settings(max_examples=15, deadline=None)
    @given(values_of(record))
    def check(values: dict[str, Any]) -> None:
        packed = LAYOUT.pack(record, values)
        assert len(packed) == LAYOUT.size(record)
        assert LAYOUT.unpack(record, packed) == values

    check()


def test_the_limits_of_a_system_file_are_those_of_the_manifest() -> None:
    constants = LAYOUT.schema.constants
    assert constants["most_flow_connections"].value == MOST_CONNECTIONS
    assert constants["flow_connections"].value == Flow.model_fields["connections"].default


def test_the_c_compiler_agrees_on_every_size_offset_and_value(tmp_path: Path) -> None:
    """This is checked by the output of a compiled program, not by the header's own assertions, which Python
    wrote."""
    (tmp_path / "bulkhead_layout.h").write_text(c_header(LAYOUT.schema, "manifest.yaml"))
    expected, lines = [], []
    for name, record in LAYOUT.schema.records.items():
        expected.append(f"{name} {LAYOUT.size(name)}")
        lines.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
        for field in record.fields:
            expected.append(f"{name}.{field.name} {LAYOUT.offset(name, field.name)}")
            lines.append(f'printf("{name}.{field.name} %zu\\n", offsetof(struct {name}, {field.name}));')
    for constant in LAYOUT.schema.constants:
        expected.append(f"{constant} {LAYOUT.constant(constant)}")
        lines.append(f'printf("{constant} %llu\\n", (unsigned long long)BH_{constant.upper()});')
    for enum in LAYOUT.schema.enums:
        for member, value in LAYOUT.enum(enum).items():
            expected.append(f"{enum}.{member} {value}")
            lines.append(f'printf("{enum}.{member} %d\\n", (int)BH_{enum.upper()}_{member.upper()});')
    program = tmp_path / "print.c"
    body = "\n".join(lines)
    program.write_text(f'#include "bulkhead_layout.h"\n#include <stdio.h>\nint main(void)\n{{\n{body}\n}}\n')
    strict = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"]
    subprocess.run(["gcc", *strict, "-o", str(tmp_path / "print"), str(program)], check=True)
    printed = subprocess.run([tmp_path / "print"], check=True, capture_output=True, text=True).stdout
    assert printed.splitlines() == expected


def test_the_header_is_cxx_too(tmp_path: Path) -> None:
    (tmp_path / "bulkhead_layout.h").write_text(c_header(LAYOUT.schema, "manifest.yaml"))
    (tmp_path / "use.cpp").write_text('#include "bulkhead_layout.h"\n#include "bulkhead_layout.h"\n')
    command = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-c", "use.cpp"]
    subprocess.run(command, cwd=tmp_path, check=True)


def test_the_header_is_the_golden_one(golden: Any) -> None:
    golden("bulkhead_layout.h", c_header(LAYOUT.schema, "manifest.yaml").encode())


def test_the_command_writes_the_header_that_the_library_makes(tmp_path: Path) -> None:
    out = tmp_path / "new" / "bulkhead_layout.h"
    assert main(["header", str(DEFAULT_LAYOUT), str(out)]) == 0
    assert out.read_text() == c_header(LAYOUT.schema, "manifest.yaml")


def test_the_command_reports_a_bad_layout_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("version: 1\nrecords:\n  a: [x: u128]\n")
    assert main(["header", str(bad), str(tmp_path / "out.h")]) == 1
    assert "bad.yaml:3: unknown type 'u128'" in capsys.readouterr().err
    assert not (tmp_path / "out.h").exists()


def test_the_hash_follows_the_layout_and_not_its_comments() -> None:
    text = "version: 1\nconstants: { a: 16 }\nrecords:\n  r:\n    - x: u64\n"
    same = "# a comment\nversion: 1\nconstants: { a: 0x10 }\nrecords:\n  r:\n    - x: u64 # of something\n"
    assert parse_schema(same).layout_hash == parse_schema(text).layout_hash
    changes = [
        ("a: 16", "a: 17"),
        ("x: u64", "y: u64"),
        ("x: u64", "x: u32[2]"),
        ("version: 1", "version: 2"),
    ]
    for old, new in changes:
        assert parse_schema(text.replace(old, new)).layout_hash != parse_schema(text).layout_hash


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("[a: u32, b: u64]", "leave a gap of 4 bytes before it"),
        ("[a: u8, b: u16, c: u8, d: u32]", "leave a gap of 1 bytes before it"),
        ("[a: u32]", "4 bytes, not a multiple of 8"),
        ("[a: char]", "needs a length"),
        ("[a: u65]", "unknown type 'u65'"),
        ("[a: nothing]", "unknown type 'nothing'"),
        ("[a: u32, a: u32]", "duplicate field 'a'"),
        ("[a: r]", "contains itself (r > r)"),
        ("[a: 'u64[0]']", "array length 0"),
        ("[a: 'u64[many]']", "neither a number nor a constant"),
        ("[A: u64]", "not a usable name"),
        ("[class: u64]", "not a usable name"),
        ("[]", "has no fields"),
        ("{a: u64}", "must be a list"),
    ],
)
def test_a_record_that_could_be_read_in_two_ways_is_refused(fields: str, reason: str) -> None:
    with pytest.raises(SchemaError, match=r"manifest\.yaml:3: ") as caught:
        parse_schema(f"version: 1\nrecords:\n  r: {fields}\n")
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("version: [", "not YAML"),
        ("constants: {}", "no 'version'"),
        ("version: 1\nconstant: {}", "unknown section 'constant'"),
        ("version: 1\nconstants: { a: 1, a: 2 }", "duplicate name 'a'"),
        ("version: 1\nconstants: { a: x }", "'x' is not an integer"),
        ("version: 1\nconstants: { a: -1 }", "does not fit 64 bits"),
        ("version: 1\nenums: { e: { a: 1, b: 1 } }", "value 1 is taken"),
        ("version: 1\nenums: { e: { a: 0x80000000 } }", "outside"),
        ("version: 1\nenums: { e: { count: 1 } }", "the same name in C: BH_E_COUNT"),
        ("version: 1\nconstants: { e_a: 1 }\nenums: { e: { a: 1 } }", "the same name in C: BH_E_A"),
        ("version: 1\nrecords: { u32: [] }", "has the name of a basic type"),
        ("version: 1\nrecords: { a: [x: b], b: [x: a] }", "contains itself (a > b > a)"),
    ],
)
def test_a_schema_with_a_mistake_is_refused_with_the_place(text: str, reason: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_schema(text)
    assert reason in str(caught.value)


REGION_SCHEMA = """\
version: 1
enums: { gic_version: { gicv2: 2, gicv3: 3 } }
records:
  manifest_platform: [gic_version: u32, reserved: u32, uart_pa: u64, sram_pa: u64, sram_bytes: u64]
  manifest_header: [platform: manifest_platform]
regions:
"""


@pytest.mark.parametrize(
    ("region", "reason"),
    [
        ("r: { at: platform.uart_pa, bytes: 4096 }", "region 'r' has no 'mapped'"),
        ("r: { bytes: 4096, mapped: true }", "region 'r' has no 'at'"),
        ("r: { at: platform.no_pa, bytes: 4096, mapped: true }", "'platform.no_pa' is not a u64"),
        ("r: { at: platform.gic_version, bytes: 4096, mapped: true }", "is not a u64 of manifest_header"),
        ("r: { at: platform, bytes: 4096, mapped: true }", "'platform' is not a u64"),
        ("r: { at: platform.uart_pa, bytes: platform.no, mapped: true }", "'platform.no' is not a u64"),
        ("r: { at: platform.uart_pa, bytes: many, mapped: true }", "'many' is not an integer"),
        ("r: { at: platform.uart_pa, bytes: 4096, mapped: 1 }", "neither true nor false"),
        ("r: { at: platform.uart_pa, bytes: 4096, mapped: true, gic: v9 }", "'v9' is not a gic_version"),
        ("r: { at: platform.uart_pa, bytes: 4096, mapped: true, size: 1 }", "no key 'size'"),
    ],
)
def test_a_region_with_a_mistake_is_refused_with_the_place(region: str, reason: str) -> None:
    with pytest.raises(SchemaError, match=r"manifest\.yaml:7: ") as caught:
        parse_schema(f"{REGION_SCHEMA}  {region}\n")
    assert reason in str(caught.value)


def test_regions_are_those_of_the_header_and_of_its_interrupt_controller() -> None:
    text = REGION_SCHEMA + (
        "  uart: { at: platform.uart_pa, bytes: 0x1000, mapped: true, guest_bytes: 0x800 }\n"
        "  v3: { at: platform.uart_pa, gic: gicv3, bytes: 1, mapped: true, guest_bytes_per_core: 16 }\n"
        "  ram: { at: platform.sram_pa, bytes: platform.sram_bytes, mapped: false }\n"
    )
    layout = Layout(parse_schema(text))
    words = {"gic_version": 2, "uart_pa": 0x9000, "sram_pa": 0, "sram_bytes": 0}

    def found(**changed: int) -> list[tuple[str, int, int, bool, int]]:
        kept = layout.regions({"platform": words | changed}, 4)
        return [(one.name, one.pa, one.bytes, one.mapped, one.guest_bytes) for one in kept]

    uart = ("uart", 0x9000, 0x1000, True, 0x800)
    assert found() == [uart]
    assert found(gic_version=3) == [uart, ("v3", 0x9000, 1, True, 64)]
    assert found(sram_pa=0x4000, sram_bytes=0x2000) == [uart, ("ram", 0x4000, 0x2000, False, 0)]


def test_the_size_of_a_region_can_be_a_constant() -> None:
    text = REGION_SCHEMA.replace("enums:", "constants:\n  frame: 0x10000\nenums:", 1) + (
        "  v3: { at: platform.uart_pa, bytes: frame, mapped: true,\n"
        "        guest_bytes: frame, guest_bytes_per_core: frame }\n"
    )
    kept = parse_schema(text).regions["v3"]
    assert (kept.bytes, kept.guest_bytes, kept.guest_bytes_per_core) == (0x10000, 0x10000, 0x10000)


GOOD_SEGMENT = {"ipa": 0, "bytes": 4096, "pa": 0, "color_set": 0, "flags": 0}


@pytest.mark.parametrize(
    ("record", "values", "reason"),
    [
        ("manifest_segment", GOOD_SEGMENT | {"color_set": 1 << 32}, "manifest_segment.color_set: 4294967296"),
        ("manifest_segment", GOOD_SEGMENT | {"ipa": -1}, "does not fit u64"),
        ("manifest_segment", GOOD_SEGMENT | {"ipa": "0"}, "expected an integer"),
        ("manifest_segment", GOOD_SEGMENT | {"ipa": True}, "expected an integer"),
        ("manifest_segment", GOOD_SEGMENT | {"pages": 1}, "no field 'pages'"),
        ("manifest_segment", {"ipa": 0}, "field 'bytes' is missing"),
        ("color_set_record", {"word": [0, 0, 0]}, "expected 4 values, got 3"),
        ("color_set_record", {"word": [0, 0, 0, 1 << 64]}, "color_set_record.word[3]"),
        ("no_such", {}, "no record named 'no_such'"),
    ],
)
def test_a_value_that_does_not_fit_is_an_error(record: str, values: dict[str, Any], reason: str) -> None:
    with pytest.raises(LayoutError) as caught:
        LAYOUT.pack(record, values)
    assert reason in str(caught.value)


def test_a_signed_field_has_its_range_and_its_type_in_c() -> None:
    schema = parse_schema("version: 1\nrecords:\n  r: [a: i32, b: u32]\n")
    layout = Layout(schema)
    for value in (-(1 << 31), -1, 0, (1 << 31) - 1):
        packed = layout.pack("r", {"a": value, "b": 1})
        assert packed == struct.pack("<iI", value, 1)
        assert layout.unpack("r", packed) == {"a": value, "b": 1}
    for value in (-(1 << 31) - 1, 1 << 31):
        with pytest.raises(LayoutError, match="does not fit i32"):
            layout.pack("r", {"a": value, "b": 1})
    assert "int32_t a;" in c_header(schema, "test")


def test_text_keeps_its_terminating_zero() -> None:
    layout = Layout(parse_schema("version: 1\nrecords:\n  r: [name: 'char[8]']\n"))
    assert layout.pack("r", {"name": "seven77"}) == b"seven77\0"
    assert layout.unpack("r", b"seven77\0") == {"name": "seven77"}
    for bad in ("eight888", "\u00e4\u00e4\u00e4\u00e4", "a\0b"):
        with pytest.raises(LayoutError):
            layout.pack("r", {"name": bad})


def test_reserved_fields_are_zero_unless_they_are_given() -> None:
    packed = LAYOUT.pack("manifest_cpu", {"mpidr": 1, "pmu_irq": 23})
    assert LAYOUT.unpack("manifest_cpu", packed)["reserved"] == 0


def test_a_short_buffer_is_refused() -> None:
    with pytest.raises(LayoutError, match="needs 16 bytes at offset 8, the buffer has 23"):
        LAYOUT.unpack("manifest_ram", bytes(23), 8)


def test_enums_translate_both_ways_and_survive_unknown_values() -> None:
    assert LAYOUT.enum_value("gic_version", "gicv3") == 3
    assert LAYOUT.enum_name("gic_version", 3) == "gicv3"
    assert LAYOUT.enum_name("gic_version", 99) is None
    with pytest.raises(LayoutError, match="gicv9"):
        LAYOUT.enum_value("gic_version", "gicv9")


def test_offsets_go_through_records_and_arrays() -> None:
    domains = LAYOUT.offset("status_system", "domains")
    size = LAYOUT.size("status_domain")
    inner = LAYOUT.offset("status_domain", "vttbr")
    assert LAYOUT.offset("status_system", "domains[2].vttbr") == domains + 2 * size + inner
    for bad in ("domains[99]", "phase[0]", "domains.vttbr.x", "nothing", "a b"):
        with pytest.raises(LayoutError):
            LAYOUT.offset("status_system", bad)
