# SPDX-License-Identifier: Apache-2.0
"""Instructions of a refill on a Cortex-M7 (X8), computed from core/ as compiled for it.

A fault takes at most 100 instructions from the first one to the return: those of core/, which are computed
here, and those of the handler.
"""

import re
import subprocess
from pathlib import Path

import pytest

from bulkhead.bounds.longest import longest_path, loop_heads
from bulkhead.bounds.thumb import Function, disassembled, functions_of
from bulkhead.env.paths import repository

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
CORTEX_M7 = ["arm-none-eabi-gcc", "-mcpu=cortex-m7", "-mthumb"]
CORTEX_A9 = ["arm-none-eabi-gcc", "-mcpu=cortex-a9", "-marm"]
AARCH64 = ["aarch64-linux-gnu-gcc", "-mgeneral-regs-only"]
REFILLS = ("mxu_regions_refill", "mxu_regions_refill_fetch")
WATCH = "is_livelock"
REFILL_LIMIT = 100
HANDLER = 22  # the rest of the limit, for the handler and the exception's entry and return


def compiled(compiler: list[str], source: Path, to: Path) -> Path:
    command = [*compiler, "-std=c11", "-O2", "-ffreestanding", *WARNINGS, f"-I{repository()}"]
    subprocess.run([*command, "-c", str(source), "-o", str(to)], check=True)
    return to


def levels() -> int:
    header = (repository() / "core/mxu_trie.h").read_text()
    found = re.search(r"#define MXU_TRIE_LEVELS\s+(\d+)u", header)
    assert found is not None
    return int(found[1])


def bound_of(function: Function) -> int:
    """The only possible loop is that of the look-up."""
    heads = loop_heads(function)
    assert len(heads) <= 1
    return longest_path(function, dict.fromkeys(heads, levels()))


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Function]:
    target = tmp_path_factory.mktemp("refill") / "mxu_regions.o"
    object_file = compiled(CORTEX_M7, repository() / "core/mxu_regions.c", target)
    found = functions_of(disassembled(object_file), [*REFILLS, WATCH])
    assert set(found) == {*REFILLS, WATCH}
    return found


@pytest.mark.req("X8")
def test_a_refill_leaves_room_for_its_handler(functions: dict[str, Function]) -> None:
    admitted = functions["mxu_regions_refill"].without_calls_of(WATCH)
    assert admitted.calls == []
    assert loop_heads(admitted)
    assert bound_of(admitted) <= REFILL_LIMIT - HANDLER


@pytest.mark.req("X8")
@pytest.mark.parametrize("name", REFILLS)
def test_the_page_says_what_is_computed(functions: dict[str, Function], name: str) -> None:
    watched = bound_of(functions[name]) + bound_of(functions[WATCH])
    row = f"| `{name}()` | {bound_of(functions[name].without_calls_of(WATCH))} | {watched} |"
    assert row in (repository() / "docs/design/mxu.md").read_text()


@pytest.mark.parametrize("source", sorted((repository() / "core").glob("mxu*.c")), ids=lambda path: path.stem)
def test_the_sources_compile_for_all_who_use_them(source: Path, tmp_path: Path) -> None:
    for compiler in (CORTEX_M7, CORTEX_A9, AARCH64):
        compiled(compiler, source, tmp_path / "out.o")
