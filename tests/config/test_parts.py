# SPDX-License-Identifier: Apache-2.0
"""Platforms that are made of parts: which keys take effect, which contradict, and where that is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.campaign.points import input_hash
from bulkhead.config import locate as places
from bulkhead.config import parts
from bulkhead.config.load import load_platform
from bulkhead.config.locate import part_names

ROOT = Path(__file__).parents[2]


@pytest.fixture
def own_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of parts that a test may change; it starts as a copy of the real ones."""
    directory = tmp_path / "parts"
    directory.mkdir()
    for name in part_names():
        (directory / f"{name}.yaml").write_text((places.parts_dir() / f"{name}.yaml").read_text())
    for module in (places, parts):
        monkeypatch.setattr(module, "parts_dir", lambda: directory)
    return directory


def board(tmp_path: Path, old: str = "", new: str = "") -> Path:
    text = (ROOT / "platforms" / "teres-i.yaml").read_text()
    assert old in text
    path = tmp_path / "board.yaml"
    path.write_text(text.replace(old, new, 1))
    return path


def test_a_board_has_the_keys_of_its_parts_beneath_its_own() -> None:
    one, _, problems = load_platform(ROOT / "platforms" / "teres-i.yaml")
    assert one is not None, problems
    l2 = one.caches["l2"]
    assert (one.cores.type, one.cores.count, l2.size, l2.ways) == ("cortex-a53", 4, 512 * 1024, 16)
    assert one.interconnect is not None
    assert "A64 user manual" in str(l2.source)
    assert "Cortex-A53 TRM" in str(l2.source)


def test_a_value_of_the_board_stands_for_that_of_a_part(tmp_path: Path) -> None:
    one, _, problems = load_platform(board(tmp_path, "size: 512 KiB,", "size: 512 KiB, ways: 8,"))
    assert one is not None, problems
    assert one.caches["l2"].ways == 8


def test_two_parts_that_give_one_value_are_refused(own_parts: Path, tmp_path: Path) -> None:
    part = own_parts / "allwinner-dram.yaml"
    part.write_text(part.read_text() + "cores: { type: cortex-a5 }\n")
    _, _, problems = load_platform(board(tmp_path))
    assert [(one.file, one.key, one.code) for one in problems] == [
        ("parts/allwinner-dram.yaml", "cores.type", "conflict")
    ]


def test_an_unknown_part_is_reported_at_its_name(tmp_path: Path) -> None:
    _, _, problems = load_platform(board(tmp_path, "cortex-a53,", "cortex-a35,"))
    first = problems[0]
    assert (first.key, first.code, first.nearest) == ("parts", "unknown-name", "cortex-a53")


def test_what_is_wrong_in_a_part_is_reported_there(own_parts: Path, tmp_path: Path) -> None:
    part = own_parts / "cortex-a53.yaml"
    part.write_text(part.read_text().replace("store_buffer: 4", "store_bufer: 4"))
    _, _, problems = load_platform(board(tmp_path))
    files = {one.file for one in problems}
    assert "parts/cortex-a53.yaml" in files
    assert {one.code for one in problems} == {"unknown-key", "missing-key"}


def test_results_are_kept_by_the_text_of_parts_too(own_parts: Path, tmp_path: Path) -> None:
    path = board(tmp_path)
    job = {"platform": str(path), "parts": []}
    before = input_hash(job, "")
    assert input_hash(job, "") == before
    part = own_parts / "cortex-a53.yaml"
    part.write_text(part.read_text().replace("latency: 15", "latency: 16"))
    # The platform's own text is the same: the cached result must not be used for it.
    assert input_hash(job, "") != before
