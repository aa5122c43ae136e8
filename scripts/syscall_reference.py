# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/system-calls.md, of the microkernel, from microkernel/include/microkernel/abi.h.

    PYTHONPATH=src:scripts build/venv/bin/python scripts/syscall_reference.py [--check]

`--check` writes nothing, and ends 1 if the page is not what would be written. Of the header it reads enums; a
comment stands above its member or behind it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from generated import REFERENCE, ROOT, write_or_check

PAGE = REFERENCE / "system-calls.md"
HEADER = ROOT / "microkernel/include/microkernel/abi.h"
CALLS = "sys_number"
# The other enums of the page, with their titles.
OTHERS = {
    "sys_status": "Answers",
    "sys_event": "Events of SYS_DISPATCH",
    "sys_info": "Words of SYS_INFO",
    "sys_hardware": "Operations of SYS_HARDWARE",
    "sys_map": "Flags of SYS_MAP",
    "sys_kind": "Kinds of memory of SYS_RETYPE",
    "sys_purpose": "Purposes of SYS_GIVE",
}
_INTRO = """\
A component of the [microkernel](../design/mxu.md#the-tool) calls the kernel by SVC. The number is in
r12, a slot of the caller's capability table in r0, arguments are in r1 to r3. r0 of the answer is a
status, and up to three words are in r1 to r3. `microkernel/include/microkernel/sys.h` makes the calls
from C, and `rt.h` has what most programs use. A call needs a capability of the type below in the slot,
with the right for it."""
_ENUM = re.compile(r"^enum (\w+) \{\n(.*?)^\};", re.DOTALL | re.MULTILINE)
_COMMENT = r"(?:/\*(?P<{}>[^*]*)\*/)?"
_MEMBER = re.compile(
    _COMMENT.format("above") + r"\s*(?P<name>[A-Z]\w*)(?: = (?P<value>\d+))?,[ ]*" + _COMMENT.format("behind")
)


@dataclass(frozen=True)
class Member:
    name: str
    value: int
    comment: str


def enums_of(text: str) -> dict[str, list[Member]]:
    """The enums of a header. A last member without a comment is their number, and is left out."""
    found = {name: list(_members(body)) for name, body in _ENUM.findall(text)}
    return {name: members if members[-1].comment else members[:-1] for name, members in found.items()}


def _members(body: str) -> Iterator[Member]:
    following = 0
    for match in _MEMBER.finditer(body):
        value = following if match["value"] is None else int(match["value"])
        yield Member(match["name"], value, " ".join((match["above"] or match["behind"] or "").split()))
        following = value + 1


def page() -> str:
    """The page's text. Raises ValueError if the comment of a call has not three parts."""
    enums = enums_of(HEADER.read_text(encoding="utf-8"))
    lines = [
        "<!-- Written by scripts/syscall_reference.py from microkernel/include/microkernel/abi.h. -->",
        "",
        "# System calls of the microkernel",
        "",
        " ".join(_INTRO.split()),
        "",
        "## Calls",
        "",
        "| number | call | capability | arguments | meaning |",
        "| --- | --- | --- | --- | --- |",
    ]
    for call in enums[CALLS]:
        capability, arguments, meaning = call.comment.split("; ", 2)
        lines.append(
            f"| {call.value} | `{call.name}` | {_cell(capability)} | {_cell(arguments)} | {_cell(meaning)} |"
        )
    for name, title in OTHERS.items():
        lines += ["", f"## {title}", "", "| value | name | meaning |", "| --- | --- | --- |"]
        lines += [f"| {one.value} | `{one.name}` | {_cell(one.comment) or '–'} |" for one in enums[name]]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    sys.exit(write_or_check({PAGE: page()}, __doc__))
