# SPDX-License-Identifier: Apache-2.0
"""`make advice`: findings of cppcheck's MISRA addon for core/ and hypervisor/, by rule. Advice only.

It is no gate, and no other check uses it: the project follows its own style, whose differences from MISRA
C:2012 are intended. Rules with few places deserve a review of these. Ends 0, or 3 if cppcheck is missing.
"""

import re
import shutil
import subprocess
import sys
from collections import defaultdict

from rich.console import Console
from rich.table import Table

from bulkhead.env.native import ensure_built
from checks.common import BUILD, ROOT
from checks.compiled import one_each, write_database

DIRECTORIES = ("core", "hypervisor")
# Models of hardware for unit tests, which never run on a board.
LEFT_OUT = "hypervisor/arch/hosted"
SHOWN_PLACES = 3


def places() -> dict[str, list[str]]:
    """Places in the sources, by rule."""
    sources = [
        compilation
        for compilation in one_each("target", DIRECTORIES).values()
        if compilation.is_c and not compilation.source.is_relative_to(ROOT / LEFT_OUT)
    ]
    database = BUILD / "lint" / "advice.json"
    write_database(database, sources)
    command = ["cppcheck", f"--project={database}", "--addon=misra", "--std=c11", "--quiet", "-j2"]
    work = BUILD / "advice"  # directory for the addon's notes: otherwise they are beside the sources
    work.mkdir(parents=True, exist_ok=True)
    command += [f"--cppcheck-build-dir={work}", "--enable=style", "--template={file}:{line} {id}"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stderr
    found: dict[str, set[str]] = defaultdict(set)
    for place, rule in re.findall(r"^(\S+) misra-c2012-(\S+)$", said, re.MULTILINE):
        found[rule].add(place.removeprefix(f"{ROOT}/"))
    return {rule: sorted(where) for rule, where in found.items()}


def main() -> int:
    if shutil.which("cppcheck") is None:
        print("cppcheck is missing: scripts/setup lint")
        return 3
    ensure_built(["target"])
    table = Table(box=None)
    table.add_column("rule")
    table.add_column("count", justify="right")
    table.add_column("first places")
    for rule, where in sorted(places().items(), key=lambda entry: -len(entry[1])):
        table.add_row(rule, str(len(where)), ", ".join(where[:SHOWN_PLACES]))
    Console(width=160).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
