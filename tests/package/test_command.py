# SPDX-License-Identifier: Apache-2.0
"""`bulkhead build`, from the command line to the file, with a stand-in for the native build."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.json_results import parsed
from typer.testing import CliRunner

from bulkhead.cli import build_app
from bulkhead.env import native, paths

SYSTEM = """\
bulkhead: 1
name: commanded
platform: qemu-virt
hypervisor: { llc: { colors: [7] } }
domains:
  - name: control
    criticality: rt
    cpus: [0]
    image: { elf: control.elf }
    memory: [{ at: 0x40000000, size: 2 MiB }]
    llc: { colors: [0, 1] }
  - name: other
    cpus: [1]
    image: { elf: control.elf }
    memory: [{ at: 0x40000000, size: 2 MiB }]
    llc: { colors: [2] }
"""


@pytest.fixture
def file(images: Path, target_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system file; the build directory is a temporary one that holds the stand-in hypervisor."""
    hypervisors = tmp_path / "build" / "target" / "hypervisor"
    shutil.copytree(target_dir / "hypervisor" / "small", hypervisors / "qemu-virt")
    monkeypatch.setattr(paths, "build_dir", lambda: tmp_path / "build")
    monkeypatch.setattr(native, "ensure_built", lambda presets, targets=(): None)
    (images / "system.yaml").write_text(SYSTEM)
    return images / "system.yaml"


def run(*arguments: object) -> Any:
    return CliRunner().invoke(build_app(), ["build", *map(str, arguments)])


def test_the_image_is_written_where_it_was_asked_for(file: Path, tmp_path: Path) -> None:
    answer = run(file, "-o", tmp_path / "image.elf")
    assert answer.exit_code == 0, answer.output
    assert (tmp_path / "image.elf").read_bytes()[:4] == b"\x7fELF"
    assert "hypervisor space, domains control, other" in answer.output


def test_a_raw_image_boots_by_the_linux_protocol(file: Path, tmp_path: Path) -> None:
    assert run(file, "--unprotected", "-o", tmp_path / "image.img").exit_code == 0
    raw = (tmp_path / "image.img").read_bytes()
    assert raw[56:60] == b"ARM\x64"
    assert b"text" * 40 in raw, "images of uncolored domains are inside too"


def test_budgets_in_bytes_are_for_boards_which_count_memory(file: Path, target_dir: Path) -> None:
    """The emulator of the board counts no memory events: there the package has no budget, and the notice says
    so."""
    hypervisors = paths.build_dir() / "target" / "hypervisor"
    shutil.copytree(target_dir / "hypervisor" / "small", hypervisors / "zcu102")
    budget = "domains.other.bandwidth={budget: 100 MB/s, period: 1 ms}"
    board = ("--set", "platform=zcu102", "--set", budget)
    emulated = run(file, *board)
    assert emulated.exit_code == 0, emulated.output
    assert "not-enforced" in emulated.output
    assert "hypervisor space" in emulated.output
    real = run(file, *board, "--on", "board")
    assert real.exit_code == 0, real.output
    assert "not-enforced" not in real.output
    assert "hypervisor full" in real.output
    assert run(file, "--on", "moon").exit_code == 2


def test_a_raw_image_is_for_the_board_and_for_the_emulator_only_if_asked(
    file: Path, target_dir: Path, tmp_path: Path
) -> None:
    hypervisors = paths.build_dir() / "target" / "hypervisor"
    shutil.copytree(target_dir / "hypervisor" / "small", hypervisors / "zcu102")
    budget = "domains.other.bandwidth={budget: 100 MB/s, period: 1 ms}"
    given = ("--set", "platform=zcu102", "--set", budget)
    for name in ("image.img", "image.bin"):
        board = run(file, *given, "-o", tmp_path / name)
        assert board.exit_code == 0, board.output
        assert "not-enforced" not in board.output
        assert " for the board: " in board.output and "hypervisor full" in board.output
    emulated = run(file, *given, "-o", tmp_path / "emulated.img", "--on", "qemu")
    assert " for the emulator: " in emulated.output
    assert "the budgets of other are of: these domains have no budget in this image" in " ".join(
        emulated.stderr.split()
    )
    assert (tmp_path / "emulated.img").read_bytes() != (tmp_path / "image.img").read_bytes()
    for arguments, on in (((tmp_path / "image.img",), "board"), ((tmp_path / "image.elf",), "qemu")):
        assert parsed(run(file, *given, "--json", "-o", *arguments).stdout)["on"] == on


def test_json_has_the_common_keys_and_the_paths(file: Path) -> None:
    answer = run(file, "--json", "--seed", 5, "--miscolor", "other:3")
    assert answer.exit_code == 0, answer.output
    result = parsed(answer.stdout)
    assert (result["command"], result["verdict"], result["seed"]) == ("build", "ok", 5)
    assert (result["system"], result["platform"], result["reasons"]) == ("commanded", "qemu-virt", [])
    assert Path(result["image"]).stat().st_size > result["load_area_bytes"]
    assert Path(result["raw_image"]).stat().st_size == result["load_area_bytes"]
    assert result["miscolored_pa"] is not None
    assert result["hypervisor"] == "space"
    assert [domain["name"] for domain in result["domains"]] == ["control", "other"]


def test_there_is_no_raw_image_that_lacks_something(file: Path) -> None:
    """Also none that an earlier build of the same system has left."""
    colored = parsed(run(file, "--json").stdout)
    in_place = parsed(run(file, "--json", "--unprotected").stdout)
    assert in_place["raw_image"] is None
    assert not Path(colored["raw_image"]).exists()


@pytest.mark.parametrize(
    ("change", "arguments", "reason"),
    [
        (("control.elf", "none.elf"), [], "domain 'control': image 'none.elf' not found"),
        (("cpus: [0]", "cpus: [9]"), [], "domains[0].cpus"),
        (("size: 2 MiB", "size: 2 GiB"), [], "asks for 2 GiB"),
        (("bulkhead: 1", "bulkhead: ["), [], "system.yaml:"),
        (("", ""), ["--miscolor", "nobody"], "there is no domain 'nobody'"),
        (("", ""), ["--set", "domains.0.image.elf=none.elf"], "none.elf"),
    ],
)
def test_what_cannot_be_built_ends_with_1_and_the_reason(
    file: Path, tmp_path: Path, change: tuple[str, str], arguments: list[str], reason: str
) -> None:
    file.write_text(SYSTEM.replace(*change) if change[0] else SYSTEM)
    answer = run(file, "-o", tmp_path / "image.elf", *arguments)
    assert answer.exit_code == 1
    assert reason in answer.stderr
    assert not (tmp_path / "image.elf").exists()
    result = parsed(run(file, "--json", *arguments).stdout)
    assert result["verdict"] == "error"
    assert any(reason in text for text in result["reasons"])


def test_an_image_that_cannot_be_written_is_an_answer_not_a_traceback(file: Path, tmp_path: Path) -> None:
    answer = run(file, "-o", tmp_path / "missing" / "image.elf")
    assert answer.exit_code == 1
    assert "cannot be written" in answer.stderr
