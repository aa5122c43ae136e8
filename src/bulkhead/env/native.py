# SPDX-License-Identifier: Apache-2.0
"""Builds the native parts (CMake, Ninja) when they are out of date, before a command uses them.

Called by commands that boot or measure something. The full output is in build/logs; several processes may
call this at once. CMakeLists.txt decides what is built.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from bulkhead.env.errors import BuildFailed, MissingTool, NeedsCheckout
from bulkhead.env.paths import build_dir, checkout, host_dir, locked, repository
from bulkhead.env.progress import Update, progress

PACKAGED_TARGETS = "targets"  # file in the package with targets of preset `host`: cmake/wheel.cmake
NINJA_STATUS = "[%f/%t] "
TAIL_LINES = 40

_SMALLEST_TARGET = "bulkhead_layout_header"
STDERR = 2  # of the process, even if sys.stderr is redirected
_built: set[tuple[Path, str, frozenset[str]]] = set()  # by this process: build directory, preset, targets


@cache
def install_tools(*parts: str) -> None:
    """Runs scripts/setup to install missing `parts` (packages, lint). Raises MissingTool.

    The script reports on standard error what it does, and what is missing.
    """
    setup = subprocess.run([repository() / "scripts/setup", *parts], stdout=STDERR, check=False)
    if setup.returncode != 0:
        raise MissingTool("build tools", "named above", "scripts/setup could not install them.")


def ensure_built(presets: Sequence[str], targets: Sequence[str] = ()) -> None:
    """Configure and build CMake presets (`host`, `target`); only `targets`, if given.

    A process builds the same only once: if a source changes while the process runs, the next process builds
    it. Raises MissingTool or BuildFailed. An installed package has a fixed set of targets of preset `host`;
    for any other, NeedsCheckout is raised.
    """
    if checkout() is None:
        _require_packaged(presets, targets)
        return
    install_tools("packages")
    for preset in presets:
        wanted = (build_dir(), preset, frozenset(targets))
        if wanted in _built and (build_dir() / preset / "build.ninja").is_file():
            continue
        with locked(build_dir() / f".{preset}.lock"):
            _build(preset, targets)
        _built.add(wanted)


def configured_for(tree: Path) -> Path | None:
    """The source directory that a CMake build tree was configured for; None if it is not configured."""
    try:
        cache = (tree / "CMakeCache.txt").read_text()
    except OSError:
        return None
    match = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.MULTILINE)
    return Path(match[1]) if match else None


def _discard_foreign(tree: Path) -> None:
    """Remove a build tree that was moved or copied with its checkout: it would build the sources at the old
    path."""
    sources = configured_for(tree)
    if sources is not None and not (sources.exists() and sources.samefile(repository())):
        shutil.rmtree(tree)


def known_targets(preset: str, names: Iterable[str]) -> list[str]:
    """Those of these targets that exist. Configures the build tree if necessary; raises like
    `ensure_built`."""
    ninja = build_dir() / preset / "build.ninja"
    if not ninja.is_file():
        ensure_built([preset], [_SMALLEST_TARGET])
    content = ninja.read_text(errors="replace")
    return [name for name in names if f"\nbuild {name}: phony" in content]


def _require_packaged(presets: Sequence[str], targets: Sequence[str]) -> None:
    parts = host_dir() / PACKAGED_TARGETS
    known = parts.read_text(encoding="utf-8").split() if parts.is_file() else []
    for target in targets:
        if target not in known:
            raise NeedsCheckout(f"What uses the build's target `{target}`", target)
    if list(presets) != ["host"] or not targets:
        raise NeedsCheckout


def _build(preset: str, targets: Sequence[str]) -> None:
    tree = build_dir() / preset
    _discard_foreign(tree)
    log = build_dir() / "logs" / f"build-{preset}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as output, progress(f"build {preset}") as update:
        if not (tree / "build.ninja").exists():
            update(0.0, "configure")
            configure = ["cmake", "--preset", preset, f"-DBULKHEAD_PYTHON={sys.executable}"]
            _run(preset, configure, output.fileno(), log)
        environment = {**os.environ, "NINJA_STATUS": NINJA_STATUS}
        build = ["cmake", "--build", str(tree)]
        if targets:
            build += ["--target", *targets]
        _run_ninja(preset, build, environment, log, update)


def _run(preset: str, command: Sequence[str], output: int, log: Path) -> None:
    done = subprocess.run(command, cwd=repository(), stdout=output, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise BuildFailed(preset, log, failure_text(log))


def _run_ninja(
    preset: str, command: Sequence[str], environment: dict[str, str], log: Path, update: Update
) -> None:
    """Run the build with its output in the log; its status lines move the progress bar."""
    status = re.compile(r"^\[(\d+)/(\d+)\] (.*)")
    with log.open("a") as output:
        process = subprocess.Popen(
            command,
            cwd=repository(),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            for line in process.stdout or ():
                output.write(line)
                match = status.match(line)
                if match:
                    update(int(match[1]) / max(1, int(match[2])), Path(match[3].split(" ")[-1]).name)
            code = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
    if code != 0:
        raise BuildFailed(preset, log, failure_text(log))


def failure_text(log: Path) -> str:
    """The first failure in a build log, without successful steps."""
    lines = log.read_text(errors="replace").splitlines()
    failures = [index for index, line in enumerate(lines) if line.startswith(("FAILED:", "CMake Error"))]
    shown = lines[failures[0] :] if failures else lines
    kept = [line for line in shown if not re.match(r"^\[\d+/\d+\] ", line)]
    return "\n".join(kept[:TAIL_LINES] if failures else kept[-TAIL_LINES:])
