# SPDX-License-Identifier: Apache-2.0
"""The ways to boot: the emulator's arguments, the answers to a loader's questions, and the meaning of
refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.run.boot import Answer, NotBootable, Typist, boot_by
from bulkhead.run.refusal import explained
from bulkhead.schema import load_layout

QUESTIONS = (Answer(b"autoboot", b" "), Answer(b"=> ", b"go\r"))


def test_the_typist_answers_each_question_once_and_in_order() -> None:
    typist = Typist(QUESTIONS)
    assert typist.feed(b"=> too early ") == b""
    assert typist.feed(b"stop autoboot: 2") == b" "
    assert typist.feed(b" autoboot ") == b""
    assert typist.feed(b"=> ") == b"go\r"
    assert typist.feed(b"=> autoboot =>") == b""


def test_the_typist_finds_questions_that_come_in_pieces() -> None:
    typist = Typist(QUESTIONS)
    typed = [typist.feed(bytes([byte])) for byte in b"x" * 1000 + b"autoboot\r\n=> "]
    assert b"".join(typed) == b" go\r"
    assert typed[-1] == b"go\r"


def test_the_typist_answers_what_comes_at_once() -> None:
    assert Typist(QUESTIONS).feed(b"autoboot\n=> ") == b" go\r"


@pytest.mark.parametrize("way", ["u-boot", "firmware"])
def test_loader_and_firmware_are_for_one_board(tmp_path: Path, way: str) -> None:
    with pytest.raises(NotBootable, match="xlnx-zcu102"):
        boot_by(way, "xlnx-zcu102,secure=on", elf=tmp_path, image=tmp_path, load_pa=0)


def test_a_raw_image_is_given_to_the_emulator_as_it_is(tmp_path: Path) -> None:
    boot = boot_by("image", "xlnx-zcu102", elf=tmp_path / "elf", image=tmp_path / "image", load_pa=0)
    assert boot.arguments == ("-kernel", str(tmp_path / "image"))


def test_a_comma_in_a_path_ends_no_argument(tmp_path: Path) -> None:
    boot = boot_by("firmware", "virt", elf=tmp_path, image=Path("/a,b"), load_pa=0)
    assert any("file=/a,,b," in argument for argument in boot.arguments)


def test_a_refusal_is_explained_by_its_code() -> None:
    layout = load_layout()
    code = layout.enum_value("manifest_error", "board_memory")
    line = f"refused: board memory (error {code}) at offset 120 of the manifest"
    assert explained(line, layout).startswith(f"{line}: ")
    assert "less memory" in explained(line, layout)


def test_what_a_boot_loader_left_on_is_named() -> None:
    layout = load_layout()
    for reason, word in (("hardware", "message interrupts (LPIs)"), ("its", "interrupt translation service")):
        code = layout.enum_value("manifest_error", reason)
        line = f"refused: {reason} (error {code}) at offset 120 of the manifest"
        assert word in explained(line, layout)


@pytest.mark.parametrize(
    "line", ["", "panic: something", "refused: x (error 9999) at offset 0 of the manifest"]
)
def test_what_has_no_explanation_stays_as_it_is(line: str) -> None:
    assert explained(line, load_layout()) == line
