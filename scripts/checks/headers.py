# SPDX-License-Identifier: Apache-2.0
"""Every header compiles alone, with the flags of a source that includes it; a header nobody includes is dead.

Called by lint. `*_table.h` are lists of macro calls, which make sense only where they are included.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks.common import BUILD, ROOT, files, run
from checks.compiled import Compilation, compilations, instrumented

DIRECTORIES = ("bindings", "core", "hypervisor", "guests", "machine", "observe")


def _user(header: Path, candidates: list[Compilation]) -> Compilation | None:
    """An object made from the header; C before C++, without sanitizers before with."""
    users = [compilation for compilation in candidates if header in compilation.headers]
    return min(users, key=lambda user: (not user.is_c, len(user.flags)), default=None)


def check_headers() -> str:
    if not all((BUILD / preset / "build.ninja").exists() for preset in ("host", "target")):
        return "needs the build: its flags and dependencies"
    candidates = [*compilations("host"), *compilations("target"), *instrumented("host")]
    headers = [
        file
        for file in files(".h", ".hpp")
        if file.relative_to(ROOT).parts[0] in DIRECTORIES and not file.stem.endswith("_table")
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
