# SPDX-License-Identifier: Apache-2.0
"""`make prove`: Frama-C over core/: for which functions it proves the absence of run-time errors.

Two of its provers share the work. EVA runs the functions prove_* of proofs/eva_*.c with every value that
they allow. WP proves each function of WP_FILES for every call that meets the `requires` of its ACSL contract,
and that it keeps the contract. An alarm or an open goal is a place that was not decided, not an
error found. docs/design/proofs.md is written by `--write` and compared by `--check`. Ends 1 if something
cannot be analyzed or the document is stale. Frama-C and its prover are installed if they are missing.
"""

import argparse
import os
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
DOCUMENT = ROOT / "docs" / "design" / "proofs.md"
BEGIN = "<!-- written by scripts/prove.py -->\n"
DIRECTORY = BUILD / "prove"
MANIFEST = [
    "color",
    "crc32",
    "flow_costs",
    "manifest",
    "manifest_admission",
    "manifest_board",
    "manifest_budgets",
    "manifest_calls",
    "manifest_device_regulators",
    "manifest_domains",
    "manifest_flash",
    "manifest_flows",
    "socket_reach",
]
MANIFEST += ["manifest_memory", "manifest_nothing", "manifest_platform", "manifest_regions"]
MANIFEST += ["manifest_resets"]
MANIFEST += ["manifest_bridges", "manifest_its", "manifest_pci", "manifest_smmu", "pci_config"]
MANIFEST += ["pci_virtio", "regulated_device"]
BUDGET = ["budget", "budget_update", "event_pool", "period", "reclaim", "reservation"]
BUDGET += ["reservation_parameters"]
SCHEDULER = ["sched_fixed_priority", "sched_policy", "sched_round_robin", "vcpu_sched"]
REGULATOR = [
    "regulated_core",
    "regulator",
    "regulator_bandwidth",
    "regulator_delay",
    "regulator_exchange",
    "regulator_feedback",
    "regulator_parameters",
    "regulator_phases",
    "regulator_policies",
    "regulator_share",
    "regulator_turns",
    "regulator_utilization",
]
EVA_FILES = {
    "eva_bandwidth.c": [*BUDGET, *SCHEDULER],
    "eva_color.c": ["color"],
    "eva_flash.c": ["nor_flash"],
    "eva_manifest.c": [*MANIFEST, *REGULATOR, *BUDGET, "utilization"],
    "eva_regulator.c": [*BUDGET, *REGULATOR, "sample_ring", "utilization"],
    "eva_sockets.c": ["virtio_device", "virtqueue", "virtqueue_sound", "vsock", "vsock_device"],
}
# Functions of this file return whether they have set something: EVA distinguishes states by the returned
# value.
EVA_OPTIONS = {"eva_sockets.c": ["-eva-split-return", "full", "-eva-slevel", "60"]}
WP_FILES = ["proofs/wp_address.c"]
WP_FILES += [f"core/{name}.c" for name in ("crc32", "devicetree", "mxu_list", "mxu_paths", "mxu_trie")]
SHARED = "-cpp-extra-args=-include proofs/shared_words.h"  # for EVA, instead of core/atomic.h
FRAMA_C = ["frama-c", "-c11", "-machdep", "gcc_x86_64", f"-cpp-extra-args=-I. -Iproofs -I{DIRECTORY}"]
# The timeout is in seconds of real time, because a busy machine must not leave a goal open. Each proved goal
# takes 17 seconds of processor time at most, most take less than one.
WP = ["-wp", "-wp-rte", "-wp-model", "Typed+cast", "-wp-literals", "-wp-prover", "cvc4", "-wp-timeout", "300"]
WP += ["-wp-par", "1"]  # the pool below keeps two processors busy
HUNG_S = 1800


@dataclass(frozen=True)
class Proof:
    """Results for one function."""

    function: str
    work: str
    proved: str
    open: tuple[str, ...]  # what is not decided
    failure: str = ""

    def row(self) -> str:
        verdict = self.proved if not self.open else f"open: {', '.join(self.open)}"
        return f"| `{self.function}` | {self.work} | {self.failure or verdict} |"


def entries(file: Path) -> list[str]:
    return re.findall(r"^void prove_(\w+)\(void\)", file.read_text(), re.MULTILINE)


def prepare() -> None:
    """Writes the generated header, and finds the provers for Why3, which WP uses."""
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "bulkhead.schema", "header", str(ROOT / "schema" / "manifest.yaml")]
    subprocess.run([*command, str(DIRECTORY / "bulkhead_layout.h")], cwd=ROOT, check=True)
    os.environ["WHY3CONFIG"] = str(DIRECTORY / "why3.conf")
    detect = ["why3", "config", "detect", "-C", os.environ["WHY3CONFIG"]]
    subprocess.run(detect, check=True, capture_output=True)


def frama_c(log: str, options: list[str]) -> str | None:
    """The program's output; None if it failed."""
    command = [*FRAMA_C, *options]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=HUNG_S, check=False)
    except subprocess.TimeoutExpired:
        return None
    (DIRECTORY / log).write_text(done.stdout + done.stderr)
    return done.stdout if done.returncode == 0 else None


def by_eva(file: Path, entry: str) -> list[Proof]:
    options = [SHARED, "-eva", "-eva-precision", "1", *EVA_OPTIONS.get(file.name, [])]
    options += ["-main", f"prove_{entry}", str(file.relative_to(ROOT))]
    said = frama_c(f"{entry}.log", [*options, *(f"core/{name}.c" for name in EVA_FILES[file.name])])
    reached = re.search(r"(\d+) statements reached", said or "")
    if said is None or reached is None:
        return [Proof(entry, "EVA", "", (), f"not analyzed: build/prove/{entry}.log")]
    places = re.findall(r"\[eva:alarm\] (\S+?):(\d+): Warning", said)
    # The postcondition of range_within(), which WP proves, counts as undecided here, too.
    places = [(place, line) for place, line in places if place != "core/address.h"]
    functions = [enclosing(place, int(line)) for place, line in places]
    undecided = tuple(f"{name} ({functions.count(name)})" for name in sorted(set(functions)))
    return [Proof(entry, f"EVA: {reached[1]} statements", "no run-time error", undecided)]


def by_wp(file: str) -> list[Proof]:
    name = Path(file).stem
    said = frama_c(f"{name}.log", [file, *WP])
    total = re.search(r"Proved goals:\s+\d+ / (\d+)", said or "")
    if said is None or total is None:
        return [Proof(name, "WP", "", (), f"not analyzed: build/prove/{name}.log")]
    functions = [*re.findall(r"annotating function (\w+)", said), "lemma"]
    goals: dict[str, list[tuple[str, bool]]] = {function: [] for function in functions}
    for goal, verdict in re.findall(r"Goal typed_(?:cast_)?(\w+) : (\w+)", said):
        owner = max((function for function in functions if goal.startswith(f"{function}_")), key=len)
        goals[owner].append((goal.removeprefix(f"{owner}_"), verdict == "Valid"))
    if sum(map(len, goals.values())) != int(total[1]):
        return [Proof(name, "WP", "", (), f"not understood: build/prove/{name}.log")]
    return [
        Proof(
            f"lemmas of {name}" if function == "lemma" else function,
            f"WP: {len(found)} goals",
            "hold" if function == "lemma" else "no run-time error, contract",
            tuple(goal for goal, valid in found if not valid),
        )
        for function, found in goals.items()
        if found
    ]


def enclosing(file: str, line: int) -> str:
    """The function that contains a line: it stays the same when lines move."""
    above = (ROOT / file).read_text().splitlines()[:line]
    names = (re.match(r"^[a-z][\w \*]*?\b(\w+)\((?!.*;$)", text) for text in reversed(above))
    return next((name[1] for name in names if name), f"{file}:{line}")


def table(proofs: list[Proof]) -> str:
    rows = [proof.row() for proof in proofs]
    return "\n".join(["| function | by | proved |", "| --- | --- | --- |", *rows]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make prove", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into docs/design/proofs.md")
    parser.add_argument("--check", action="store_true", help="fail if that page says something else")
    options = parser.parse_args()
    try:
        install_tools("prove")
    except MissingTool as missing:
        print(missing, file=sys.stderr)
        return 3
    prepare()
    with ThreadPoolExecutor(2) as pool:
        goals = [pool.submit(by_wp, file) for file in WP_FILES]
        runs = [
            pool.submit(by_eva, file, entry)
            for file in sorted(PROOFS.glob("eva_*.c"))
            for entry in entries(file)
        ]
    proofs = [proof for run in [*runs, *goals] for proof in run.result()]
    text = table(proofs)
    print(text, end="")
    head = DOCUMENT.read_text().split(BEGIN)[0]
    if options.write:
        DOCUMENT.write_text(head + BEGIN + "\n" + text)
    if options.check and DOCUMENT.read_text() != head + BEGIN + "\n" + text:
        print("docs/design/proofs.md is stale: scripts/prove.py --write", file=sys.stderr)
        return 1
    return 1 if any(proof.failure for proof in proofs) else 0


if __name__ == "__main__":
    sys.exit(main())
