# SPDX-License-Identifier: Apache-2.0
"""Rules that every file of the repository keeps: licence, first comment, size, no paths of one machine.

Run by `make lint`. Files are those that git tracks or would track.
"""

import ast
import re
from pathlib import Path

import pytest

from checks.common import ROOT, files

SOURCES = (".c", ".h", ".S", ".ld", ".cpp", ".hpp", ".py", ".sh", ".cmake", ".yaml", ".toml")
NAMED_SOURCES = ("CMakeLists.txt", "Kbuild", "Makefile", "bulkhead", "setup", "demo", "run")
LARGEST_BYTES = 1 << 20
# Inputs and expected outputs of tests are data, and licence texts are fixed.
DATA = ("tests/golden/", "examples/bad/", "LICENSES/")

# Composed of pieces, so that this file keeps its own rule.
OF_ONE_MACHINE = re.compile("|".join(["/wo" + "rk/", "/tm" + "p/", "/ho" + "me/[a-z]"]))
OF_ONE_REGISTRY = re.compile(r"\b(deb|snapshot)\.debian" + r"\.org|py" + r"pi\.org|python" + r"hosted\.org")
OF_A_MERGE = re.compile(r"^(<{7}|>{7}|\|{7}) ")  # a line of equal signs can be an underline


def name(file: Path) -> str:
    return str(file.relative_to(ROOT))


def is_data(file: Path) -> bool:
    return name(file).startswith(DATA)


def sources() -> list[Path]:
    return [
        file
        for file in files()
        if (file.suffix in SOURCES or file.name in NAMED_SOURCES)
        and not is_data(file)
        and file.stat().st_size > 0  # an empty __init__.py only makes a package
    ]


def texts() -> list[tuple[Path, str]]:
    readable = []
    for file in files():
        try:
            readable.append((file, file.read_text()))
        except UnicodeDecodeError:
            continue
    return readable


def opening(file: Path) -> list[str]:
    """The first lines without an interpreter line."""
    lines = file.read_text().splitlines()[:3]
    return lines[1:] if lines and lines[0].startswith("#!") else lines


def expected_licence(file: Path) -> str:
    shared = name(file).startswith(("core/", "linux/", "schema/"))
    return "Apache-2.0 OR GPL-2.0-only" if shared else "Apache-2.0"


def test_every_source_names_its_licence_first() -> None:
    wrong = []
    for file in sources():
        first = (opening(file) or [""])[0]
        match = re.search(r"SPDX-License-Identifier: (.*?)\s*(\*/)?$", first)
        if not match or match[1] != expected_licence(file):
            wrong.append(f"{name(file)}: should open with SPDX-License-Identifier: {expected_licence(file)}")
    assert not wrong, "\n".join(wrong)


def test_every_c_file_says_what_lives_in_it() -> None:
    silent = [
        name(file)
        for file in sources()
        if file.suffix in (".c", ".h", ".cpp", ".hpp")
        and not re.match(r"\s*(//|/?\*)", [*opening(file), "", ""][1])
    ]
    assert not silent, "no comment after the licence line: " + ", ".join(silent)


def test_every_module_says_what_lives_in_it() -> None:
    silent = [
        name(file)
        for file in sources()
        if file.suffix == ".py" and ast.get_docstring(ast.parse(file.read_text())) is None
    ]
    assert not silent, "no docstring: " + ", ".join(silent)


def test_no_file_is_large() -> None:
    large = [name(file) for file in files() if file.stat().st_size > LARGEST_BYTES]
    assert not large, f"over 1 MiB: {', '.join(large)}"


@pytest.mark.parametrize(
    ("pattern", "what"),
    [(OF_ONE_MACHINE, "a path of one machine"), (OF_ONE_REGISTRY, "the host of a registry or mirror")],
    ids=["machine-paths", "registries"],
)
def test_nothing_belongs_to_one_machine(pattern: re.Pattern[str], what: str) -> None:
    found = [
        f"{name(file)}:{number}: {what}: {line.strip()[:100]}"
        for file, text in texts()
        if not name(file).startswith("LICENSES/") and file.name != "LICENSE"
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found, "\n".join(found)


def test_no_merge_is_unresolved() -> None:
    found = [
        f"{name(file)}:{number}"
        for file, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        if OF_A_MERGE.match(line)
    ]
    assert not found, "\n".join(found)
