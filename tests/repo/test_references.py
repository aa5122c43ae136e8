# SPDX-License-Identifier: Apache-2.0
"""The manual has every hypercall, system call and field of a record (`scripts/*_reference.py`)."""

from __future__ import annotations

import re
from pathlib import Path

import hypercall_reference
import layout_reference
import syscall_reference
from bulkhead.schema import load_layout
from bulkhead.schema.parse import parse_schema

ROOT = Path(__file__).parents[2]
SCHEMA = load_layout().schema
CALLS = hypercall_reference.calls_of(SCHEMA)
FIRST_CALL = 0x86000000
REGISTERS = re.compile(r"x(?:[0-9]|1[0-7])(?: to x(?:[0-9]|1[0-7]))?")


def test_each_number_has_a_call() -> None:
    numbers = {
        name.removeprefix("hypercall_")
        for name, constant in SCHEMA.constants.items()
        if name.startswith("hypercall_") and constant.value >= FIRST_CALL
    } - {f"uid_{word}" for word in range(4)}  # words of an answer
    assert {call.name for call in CALLS} == numbers


def test_the_hypervisor_tells_their_number_without_the_queries_about_them() -> None:
    others = {call.name for call in CALLS} - {"count", "uid", "revision"}
    assert SCHEMA.constants["hypercall_own_count"].value == len(others)


def test_callers_are_those_that_the_hypervisor_serves() -> None:
    """`is_of_managers` of hypervisor/trap/hypercall.c has the range of numbers."""
    source = (ROOT / "hypervisor/trap/hypercall.c").read_text(encoding="utf-8")
    first, last = re.findall(r"function [<>]= BH_HYPERCALL_(\w+)", source)
    numbers = {call.name: call.number for call in CALLS}
    low, high = numbers[first.lower()], numbers[last.lower()]
    assert {call.name for call in CALLS if low <= call.number <= high} == {
        call.name for call in CALLS if call.caller == "manager"
    }
    broker = (ROOT / "hypervisor/flow/flow_broker.c").read_text(encoding="utf-8")
    assert {name.lower() for name in re.findall(r"case BH_HYPERCALL_(\w+):", broker)} == {
        call.name for call in CALLS if call.caller == "broker"
    }


def test_errors_and_registers_are_known() -> None:
    errors = {member.name for member in SCHEMA.enums["hypercall_error"].members}
    for call in CALLS:
        assert call.caller in hypercall_reference.CALLERS, call.name
        assert set(call.errors) <= errors, call.name
        assert all(REGISTERS.fullmatch(one) for one in (*call.takes, *call.answers)), call.name
        assert "x0" not in call.takes, call.name
        told = (*call.takes.values(), *call.answers.values(), *call.errors.values())
        assert all(isinstance(text, str) for text in told), f"{call.name}: a comma in a text without quotes"


def test_each_error_is_one_of_a_call() -> None:
    told = {error for call in CALLS for error in call.errors}
    assert {member.name for member in SCHEMA.enums["hypercall_error"].members} - told == {"none"}


def test_each_field_has_a_meaning() -> None:
    assert layout_reference.fields_without_meaning(SCHEMA) == []


def test_each_record_has_a_meaning() -> None:
    assert [record.name for record in SCHEMA.records.values() if not record.comment] == []


def test_a_field_without_a_meaning_is_found() -> None:
    text = "version: 1\nrecords:\n  r:\n    - a: u32 # told\n    - b: u32\n    - reserved: u64\n"
    assert layout_reference.fields_without_meaning(parse_schema(text)) == ["r.b"]


def test_each_system_call_is_told_in_three_parts() -> None:
    enums = syscall_reference.enums_of(syscall_reference.HEADER.read_text(encoding="utf-8"))
    calls = enums[syscall_reference.CALLS]
    assert [call.name for call in calls if call.comment.count("; ") < 2] == []
    assert [one.name for name in syscall_reference.OTHERS for one in enums[name] if not one.comment] == []


def test_members_of_a_header_have_the_values_of_c() -> None:
    text = "enum e {\n    /* first */\n    A,\n    B = 4, /* second */\n    C, /* third */\n    COUNT,\n};\n"
    assert [(one.name, one.value, one.comment) for one in syscall_reference.enums_of(text)["e"]] == [
        ("A", 0, "first"),
        ("B", 4, "second"),
        ("C", 5, "third"),
    ]
