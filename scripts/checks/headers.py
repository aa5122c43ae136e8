# SPDX-License-Identifier: Apache-2.0
"""Every header compiles alone, with the flags of a source that includes it; a header without includers is
dead.

A header that a source includes before anything else was compiled alone by the build. `*_table.h` are lists of
macro calls, which make sense only where they are included; `guests/rtos`, and headers that only it includes,
are built with kernels that are not in the repository. Called by lint.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from checks.common import BUILD, ROOT, files, run
from checks.compiled import TREES, Compilation, compilations, instrumented

ELSEWHERE = ("guests/rtos/", "guests/socket/one_to_one.h")
DIRECTORIES = ("bindings", "core", "hypervisor", "guests", "machine", "microkernel", "observe")


def _user(header: Path, candidates: list[Compilation]) -> Compilation | None:
    """An object made from the header; C before C++, without sanitizers before with."""
    users = [compilation for compilation in candidates if header in compilation.headers]
    return min(users, key=lambda user: (not user.is_c, len(user.flags)), default=None)


@cache
def _first_include(source: Path) -> str | None:
    """The file that it includes first, if it is named in quotes."""
    found = re.search(r"^\s*#\s*include\s+(.*)", source.read_text(), re.MULTILINE)
    quoted = re.match(r'"([^"]+)"', found[1]) if found else None
    return f"/{quoted[1]}" if quoted else None


def _compiled_first(candidates: list[Compilation]) -> set[Path]:
    """Headers that some source includes first, without a precompiled header before them."""
    return {
        header
        for source in candidates
        if "-include" not in source.flags and (name := _first_include(source.source))
        for header in source.headers
        if str(header).endswith(name)
    }


def check_headers() -> str:
    if not all((BUILD / preset / "build.ninja").exists() for preset in TREES):
        return "needs the build: its flags and dependencies"
    candidates = [*(c for tree in TREES for c in compilations(tree)), *instrumented("host")]
    compiled = _compiled_first(candidates)
    headers = [
        file
        for file in files(".h", ".hpp")
        if file.relative_to(ROOT).parts[0] in DIRECTORIES
        and not file.stem.endswith("_table")
        and not str(file.relative_to(ROOT)).startswith(ELSEWHERE)
        and file not in compiled
    ]

    def check(header: Path) -> str:
        user = _user(header, candidates)
        if user is None:
            return f"{header.relative_to(ROOT)}: no source that is built includes it"
        language = "c" if user.is_c else "c++"
        command = [user.compiler, *user.flags, "-fsyntax-only", "-x", language, "-"]
        problem = run(command, f'#include "{header}"\n')
        return f"{header.relative_to(ROOT)} does not compile alone:\n{problem}" if problem else ""

    with ThreadPoolExecutor(2) as pool:
        return "\n".join(filter(None, pool.map(check, headers)))
