# SPDX-License-Identifier: Apache-2.0
"""`make prove`: Frama-C's EVA over core/: for which functions it proves the absence of run-time errors.

An entry point is a function prove_* of proofs/eva_*.c; what it calls is proved for every input that it
allows, if there is no alarm. An alarm is a place that EVA could not decide, not an error found.
docs/proofs.md is written by `--write` and compared by `--check`. Ends 1 if an entry point cannot be
analyzed or the document is stale. Frama-C (Debian: frama-c-base) is installed if it is missing.
"""

import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bulkhead.env.errors import MissingTool
from bulkhead.env.native import install_tools
from checks.common import BUILD, ROOT

PROOFS = ROOT / "proofs"
DOCUMENT = ROOT / "docs" / "proofs.md"
BEGIN = "<!-- written by scripts/prove.py -->\n"
CORE = ("color.c", "crc32.c", "devicetree.c", "manifest.c", "manifest_domains.c", "manifest_memory.c")
SOURCES = [*(f"core/{name}" for name in CORE), "core/manifest_platform.c"]
HUNG_S = 600


@dataclass(frozen=True)
class Proof:
    """What EVA says of one entry point."""

    entry: str
    statements: int  # reached, all of them analyzed
    alarms: tuple[str, ...]  # places in core/ that are not decided
    failure: str

    def row(self) -> str:
        verdict = "no run-time error" if not self.alarms else f"open: {', '.join(self.alarms)}"
        return f"| `{self.entry}` | {self.statements} | {self.failure or verdict} |"


def entries(file: Path) -> list[str]:
    return re.findall(r"^void prove_(\w+)\(void\)", file.read_text(), re.MULTILINE)


def layout_directory() -> Path:
    directory = BUILD / "prove"
    directory.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "bulkhead.schema", "header", str(ROOT / "schema" / "manifest.yaml")]
    subprocess.run([*command, str(directory / "bulkhead_layout.h")], cwd=ROOT, check=True)
    return directory


def analyze(file: Path, entry: str, include: Path) -> Proof:
    command = ["frama-c", "-c11", "-machdep", "gcc_x86_64", f"-cpp-extra-args=-I. -Iproofs -I{include}"]
    command += ["-eva", "-eva-precision", "1", "-main", f"prove_{entry}"]
    command += [str(file.relative_to(ROOT)), *SOURCES]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=HUNG_S, check=False)
    except subprocess.TimeoutExpired:
        return Proof(entry, 0, (), f"not analyzed in {HUNG_S} s")
    (include / f"{entry}.log").write_text(done.stdout + done.stderr)
    if done.returncode != 0:
        return Proof(entry, 0, (), f"not analyzed: build/prove/{entry}.log")
    reached = re.search(r"(\d+) statements reached", done.stdout)
    places = re.findall(r"\[eva:alarm\] (core/\S+?):(\d+): Warning", done.stdout)
    functions = {enclosing(place, int(line)) for place, line in places}
    return Proof(entry, int(reached[1]) if reached else 0, tuple(sorted(functions)), "")


def enclosing(file: str, line: int) -> str:
    """The function of core/ that holds a line: stays the same when lines move."""
    above = (ROOT / file).read_text().splitlines()[:line]
    names = (re.match(r"^[a-z][\w \*]*?\b(\w+)\((?!.*;$)", text) for text in reversed(above))
    return next((name[1] for name in names if name), f"{file}:{line}")


def table(proofs: list[Proof]) -> str:
    rows = [proof.row() for proof in proofs]
    return "\n".join(["| function | statements | proved |", "| --- | ---: | --- |", *rows]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make prove", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into docs/proofs.md")
    parser.add_argument("--check", action="store_true", help="fail if docs/proofs.md says something else")
    options = parser.parse_args()
    try:
        install_tools("prove")
    except MissingTool as missing:
        print(missing, file=sys.stderr)
        return 3
    include = layout_directory()
    work = [(file, entry) for file in sorted(PROOFS.glob("eva_*.c")) for entry in entries(file)]
    with ThreadPoolExecutor(2) as pool:
        proofs = list(pool.map(lambda item: analyze(item[0], item[1], include), work))
    text = table(proofs)
    print(text, end="")
    head = DOCUMENT.read_text().split(BEGIN)[0]
    if options.write:
        DOCUMENT.write_text(head + BEGIN + "\n" + text)
    if options.check and DOCUMENT.read_text() != head + BEGIN + "\n" + text:
        print("docs/proofs.md is stale: scripts/prove.py --write", file=sys.stderr)
        return 1
    return 1 if any(proof.failure for proof in proofs) else 0


if __name__ == "__main__":
    sys.exit(main())
