# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the hosted build of core/ and hypervisor/, remembered per source and what it includes.

Called by lint. The flags are those of the plain (unsanitized) objects, in a compilation database of its own.
"""

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks.common import BUILD, ROOT, run
from checks.compiled import Compilation, compilations

DIRECTORIES = ("core", "hypervisor")
DATABASE = BUILD / "lint"
# Warnings that clang 14 does not know or that differ from gcc's; gcc has already checked them.
QUIET = ("-Wno-unknown-warning-option",)


def _sources() -> list[Compilation]:
    plain: dict[Path, Compilation] = {}
    for compilation in compilations("host"):
        if compilation.source.relative_to(ROOT).parts[0] in DIRECTORIES:
            known = plain.get(compilation.source)
            if known is None or len(compilation.flags) < len(known.flags):
                plain[compilation.source] = compilation
    return list(plain.values())


def _fingerprint(compilation: Compilation) -> str:
    digest = hashlib.sha256(repr(compilation.flags).encode())
    for file in (ROOT / ".clang-tidy", compilation.source, *sorted(compilation.headers)):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _check(compilation: Compilation) -> str:
    stamp = DATABASE / "tidy" / _fingerprint(compilation)
    if stamp.exists():
        return ""
    problem = run(["clang-tidy", "--quiet", "-p", DATABASE, compilation.source])
    if not problem:
        stamp.touch()
    return problem


def check_tidy() -> str:
    if not (BUILD / "host" / "build.ninja").exists():
        return "needs the build: its flags and dependencies"
    sources = _sources()
    (DATABASE / "tidy").mkdir(parents=True, exist_ok=True)
    entries = [
        {
            "directory": str(source.directory),
            "file": str(source.source),
            "arguments": ["clang", *source.flags, *QUIET, "-c", str(source.source)],
        }
        for source in sources
    ]
    (DATABASE / "compile_commands.json").write_text(json.dumps(entries, indent=1))
    with ThreadPoolExecutor(2) as pool:
        return "\n".join(filter(None, pool.map(_check, sources)))
