# SPDX-License-Identifier: Apache-2.0
"""How each file was compiled, from the build trees: commands, and the headers that each object needed.

Used by the checks that need a file's real flags. It reads the trees in build/ and builds nothing.
"""

import json
import shlex
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from checks.common import BUILD, ROOT

# Build trees beneath build/; the last is a project inside of the second (microkernel/CMakeLists.txt).
TREES = ("host", "target", "target/microkernel")


@dataclass(frozen=True)
class Compilation:
    """One object file: its source, the compiler with its flags (no input, no output), its headers."""

    source: Path
    directory: Path
    compiler: str
    flags: tuple[str, ...]
    headers: frozenset[Path]

    @property
    def is_c(self) -> bool:
        return self.source.suffix == ".c"


def _flags(arguments: list[str]) -> tuple[str, tuple[str, ...]]:
    """Compiler and flags of a command line without launcher, input, output and dependency files."""
    names = [Path(argument).name for argument in arguments]
    if "ccache" in names:
        arguments = arguments[names.index("ccache") + 1 :]
    kept: list[str] = []
    rest = iter(arguments[1:])
    for argument in rest:
        if argument in ("-o", "-c", "-MT", "-MF"):
            next(rest)
        elif argument != "-MD":
            kept.append(argument)
    return arguments[0], tuple(kept)


def _output(arguments: list[str]) -> str:
    return arguments[arguments.index("-o") + 1]


def _recorded_headers(tree: Path) -> dict[str, frozenset[Path]]:
    """Files of the checkout or its build that each object was made from, as Ninja recorded them."""
    shown = subprocess.run(["ninja", "-C", tree, "-t", "deps"], capture_output=True, text=True, check=True)
    headers: dict[str, frozenset[Path]] = {}
    for block in shown.stdout.split("\n\n"):
        first, *names = block.strip().splitlines() or [""]
        if "(VALID)" in first:
            paths = ((tree / name.strip()).resolve() for name in names)
            headers[first.partition(":")[0]] = frozenset(path for path in paths if path.is_relative_to(ROOT))
    return headers


@cache
def compilations(preset: str) -> tuple[Compilation, ...]:
    """All objects of C and C++ of a build tree that has been built, except those of sources yet to be
    fetched."""
    tree = BUILD / preset
    headers = _recorded_headers(tree)
    found = []
    for entry in json.loads((tree / "compile_commands.json").read_text()):
        source = Path(entry["file"])
        if source.suffix not in (".c", ".cpp", ".cxx"):  # the last: files that CMake joins in one unit
            continue
        if not source.exists():
            continue
        arguments = shlex.split(entry["command"])
        compiler, flags = _flags(arguments)
        found.append(Compilation(source, tree, compiler, flags, headers.get(_output(arguments), frozenset())))
    return tuple(found)


@cache
def instrumented(preset: str) -> tuple[Compilation, ...]:
    """The objects of programs for the simulated machine: they have their own build steps, and are in no
    compilation database."""
    tree = BUILD / preset
    shown = subprocess.run(["ninja", "-C", tree, "-t", "compdb"], capture_output=True, text=True, check=True)
    found = []
    for entry in json.loads(shown.stdout):
        steps = [step for step in entry["command"].split(" && ") if " -S -MD " in step]
        if steps:
            *arguments, source = shlex.split(steps[0])
            compiler, flags = _flags(arguments)
            kept = tuple(flag for flag in flags if flag != "-S")
            depfile = tree / f"{entry['output']}.d"
            listed = depfile.read_text().replace("\\\n", " ").split() if depfile.exists() else []
            known = frozenset(path for path in map(Path, listed) if path.is_relative_to(ROOT))
            found.append(Compilation(Path(source), tree, compiler, kept, known))
    return tuple(found)


def one_each(preset: str, directories: tuple[str, ...]) -> dict[Path, Compilation]:
    """For each source of these directories its plain (unsanitized) compilation."""
    plain: dict[Path, Compilation] = {}
    for compilation in compilations(preset):
        if compilation.source.relative_to(ROOT).parts[0] in directories:
            known = plain.get(compilation.source)
            if known is None or len(compilation.flags) < len(known.flags):
                plain[compilation.source] = compilation
    return plain


def write_database(file: Path, compilations: Iterable[Compilation], compiler: str = "clang") -> None:
    """A compilation database for a tool that is not the compiler itself."""
    entries = [
        {
            "directory": str(entry.directory),
            "file": str(entry.source),
            # Warnings are left to the compiler, which has some that the tools do not know.
            "arguments": [
                compiler,
                *(f for f in entry.flags if not f.startswith("-W")),
                "-c",
                str(entry.source),
            ],
        }
        for entry in compilations
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(entries, indent=1))
