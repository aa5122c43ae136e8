# SPDX-License-Identifier: Apache-2.0
"""`bulkhead size` reads the linked program and its sources; the test makes both, so that their sizes are
known."""

import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bulkhead.commands.size import flow_sizes, programs_of, section_sizes, source_lines, structure_sizes
from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir, repository

COMPILER = "aarch64-linux-gnu-gcc"
SOURCE = """
const unsigned table[25] = {1};
unsigned initialized[10] = {2};
unsigned zero[1000];
struct pair { char first; long second; } pairs[1];
void _start(void) {
    zero[0] = table[1] + initialized[0];
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    if not shutil.which(COMPILER):
        pytest.skip(f"needs {COMPILER}")
    (tmp_path / "tiny.c").write_text(SOURCE)
    flags = ["-O1", "-g", "-ffreestanding", "-nostdlib", "-static", "-fno-pie", "-no-pie"]
    flags += ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-Wl,--build-id=none"]
    subprocess.run([COMPILER, *flags, "tiny.c", "-o", "tiny.elf"], cwd=tmp_path, check=True)
    return tmp_path / "tiny.elf"


def test_bytes_are_told_apart_by_what_they_are(program: Path) -> None:
    sizes = section_sizes(program)
    assert sizes["rodata"] == 25 * 4
    assert sizes["data"] == 10 * 4
    assert sizes["bss"] == 1000 * 4 + 16
    assert 0 < sizes["text"] < 100
    assert sizes["text"] % 4 == 0


def test_structures_have_the_sizes_that_the_compiler_gave_them(program: Path) -> None:
    assert structure_sizes(program, {"pair"}) == {"pair": 16}
    with pytest.raises(KeyError):
        structure_sizes(program, {"triple"})


@pytest.mark.req("F2")
def test_what_flows_take_is_reported() -> None:
    ensure_built(["target"])
    sizes = flow_sizes(build_dir() / "target")
    broker = sizes["broker"]
    assert 0 < broker["text after the start"] < broker["text"]
    assert broker["text after the start"] < 32 * 1024, "an instruction cache"
    assert 0 < broker["text for admission tests"] < broker["text"]
    for where in ("bytes_at_el2", "bytes_in_broker"):
        assert all(nbytes > 0 for nbytes in sizes[where].values())


def test_debug_information_is_no_part_of_the_size(program: Path) -> None:
    before = section_sizes(program)
    subprocess.run(["aarch64-linux-gnu-strip", "--strip-debug", program], check=True)
    assert section_sizes(program) == before


def test_each_board_has_its_programs(program: Path, tmp_path: Path) -> None:
    for place in ("a/bulkhead.elf", "a/bulkhead-space.elf", "b/bulkhead.elf"):
        (tmp_path / "hypervisor" / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(program, tmp_path / "hypervisor" / place)
    sizes = section_sizes(program)
    assert programs_of(tmp_path) == {"a": {"full": sizes, "space": sizes}, "b": {"full": sizes}}


def test_the_hypervisor_that_isolates_space_stays_below_64_kib() -> None:
    """Its text is padded to whole pages: at most sixteen."""
    ensure_built(["target"])
    programs = programs_of(build_dir() / "target")
    assert programs
    for board, sizes in programs.items():
        assert 0 < sizes["space"]["text"] <= 65_536, board
        assert sizes["space"]["text"] < sizes["full"]["text"], board


def test_the_hypervisor_that_isolates_space_has_room_for_more() -> None:
    """768 bytes at least. The unpadded text is counted. The vectors are at the first possible address: the
    linker script puts other text before them, as much as fits."""
    ensure_built(["target"])
    programs = sorted((build_dir() / "target").glob("hypervisor/*/bulkhead-space.elf"))
    assert programs
    for program in programs:
        assert symbol(program, "image_text_used") - symbol(program, "image_start") <= 64 * 1024 - 768, program
        assert symbol(program, "vectors") - symbol(program, "image_start") == 2048, program


def symbol(program: Path, name: str) -> int:
    with program.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        found = table.get_symbol_by_name(name)
        assert found is not None, name
        return int(found[0]["st_value"])


def test_lines_are_counted_without_comments_and_blanks_by_directory() -> None:
    files = sorted((repository() / "core").glob("*.c"))
    counted = source_lines(files)
    assert list(counted) == ["core"]
    written = [line.strip() for file in files for line in file.read_text().splitlines()]
    assert 0 < counted["core"] < len([line for line in written if line])
