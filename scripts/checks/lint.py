# SPDX-License-Identifier: Apache-2.0
"""The list of everything that `make lint` checks.

Called by scripts/lint.py and scripts/test.py. Checks that need the build (flags, generated header) say so.
"""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from checks.common import BUILD, VENV_BIN, Result, changed_files, files, run, timed
from checks.compiled import TREES, Compilation, one_each, write_database
from checks.headers import check_headers
from checks.tidy import check_tidy

C_SUFFIXES = (".c", ".h", ".cpp", ".hpp")
CHECKED_BY_CPPCHECK = ("core", "hypervisor", "guests", "microkernel")


def check_format() -> str:
    sources = files(*C_SUFFIXES)
    return run([VENV_BIN / "clang-format", "--dry-run", "-Werror", *sources]) if sources else ""


def check_cppcheck() -> str:
    """All C code for boards: as compiled for the board, or hosted if that is the only build."""
    if not all((BUILD / preset / "build.ninja").exists() for preset in TREES):
        return "needs the build: its flags and generated header"
    compiled: dict[Path, Compilation] = {}
    for tree in TREES:
        compiled |= one_each(tree, CHECKED_BY_CPPCHECK)
    sources = [compilation for compilation in compiled.values() if compilation.is_c]
    if not sources:
        return ""
    cache = BUILD / "lint" / "cppcheck"
    cache.mkdir(parents=True, exist_ok=True)
    database = BUILD / "lint" / "cppcheck.json"
    write_database(database, sources)
    # Symbols of the linker script are bounds of one object, which cppcheck cannot know: comparePointers.
    ignored = ("missingInclude", "missingIncludeSystem", "comparePointers", "unmatchedSuppression")
    options = [f"--project={database}", f"--cppcheck-build-dir={cache}", "-j2", "--quiet", "--inline-suppr"]
    options += ["--enable=warning,portability,performance", "--std=c11", "--error-exitcode=1"]
    return run(["cppcheck", *options, *(f"--suppress={name}" for name in ignored)])


def check_shell() -> str:
    scripts = [f for f in files() if f.suffix in ("", ".sh") and f.read_bytes().startswith(b"#!/bin/sh")]
    return run([VENV_BIN / "shellcheck", *scripts]) if scripts else ""


def check_layers() -> str:
    """Contracts in pyproject.toml: which package of the tool may import which."""
    return run([VENV_BIN / "lint-imports", "--no-logo", "--no-cache"])


def check_repository() -> str:
    return run([sys.executable, "-m", "pytest", "-q", "--tb=short", "tests/repo"])


# The slow ones first: two run at a time.
CHECKS: dict[str, Callable[[], str]] = {
    "clang-tidy": check_tidy,
    "mypy --strict": partial(run, [VENV_BIN / "mypy"]),
    "cppcheck": check_cppcheck,
    "headers compile alone": check_headers,
    "files of the repository": check_repository,
    "clang-format": check_format,
    "ruff check": partial(run, [VENV_BIN / "ruff", "check", "--quiet"]),
    "ruff format": partial(run, [VENV_BIN / "ruff", "format", "--check", "--quiet"]),
    "shellcheck": check_shell,
    "layers of the tool": check_layers,
}


# The slow checks examine only files that differ from the upstream branch.
ON_CHANGES: dict[str, Callable[[], str]] = {
    **{name: check for name, check in CHECKS.items() if name not in ("cppcheck", "headers compile alone")},
    "clang-tidy": lambda: check_tidy(set(changed_files())),
}


def lint_of_changes() -> Iterator[Result]:
    return lint(ON_CHANGES)


def lint(checks: dict[str, Callable[[], str]] = CHECKS) -> Iterator[Result]:
    """Run all checks, two at a time; results in the order of the list."""
    with ThreadPoolExecutor(2) as pool:
        pending = [pool.submit(timed, name, check) for name, check in checks.items()]
        for future in pending:
            yield future.result()
