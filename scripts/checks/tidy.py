# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the hosted build of core, hypervisor and microkernel; results are cached per source with
its headers.

Called by lint. The flags are those of the plain (unsanitized) objects, in a compilation database of its own.
"""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks.common import BUILD, ROOT, run
from checks.compiled import Compilation, one_each, write_database

DIRECTORIES = ("core", "hypervisor", "microkernel")
DATABASE = BUILD / "lint"
# Bounds the analyzer's paths through one function: this saves two thirds of the time, with the same findings
# so far.
ANALYZER = [f"--extra-arg={part}" for part in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=40000")]


def _fingerprint(compilation: Compilation) -> str:
    digest = hashlib.sha256(repr(compilation.flags).encode())
    for file in (ROOT / ".clang-tidy", compilation.source, *sorted(compilation.headers)):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _check(compilation: Compilation) -> str:
    stamp = DATABASE / "tidy" / _fingerprint(compilation)
    if stamp.exists():
        return ""
    problem = run(["clang-tidy", "--quiet", "-p", DATABASE, *ANALYZER, compilation.source])
    if not problem:
        stamp.touch()
    return problem


def check_tidy(only: set[Path] | None = None) -> str:
    """Of all sources, or only of these."""
    if not (BUILD / "host" / "build.ninja").exists():
        return "needs the build: its flags and dependencies"
    known = one_each("host", DIRECTORIES)
    sources = [one for source, one in known.items() if only is None or source in only]
    (DATABASE / "tidy").mkdir(parents=True, exist_ok=True)
    write_database(DATABASE / "compile_commands.json", sources)
    with ThreadPoolExecutor(2) as pool:
        return "\n".join(filter(None, pool.map(_check, sources)))
