# SPDX-License-Identifier: Apache-2.0
"""Runs libFuzzer programs side by side and reads their output.

Called by scripts/fuzz.py and, for a few thousand inputs, by scripts/test.py. A program that ends for another
reason than a finding (it could not start, it was killed) counts as one.
"""

import re
import subprocess
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from bulkhead.env.child import die_with_parent
from bulkhead.env.progress import Update
from checks.common import BUILD, ROOT
from fuzzing.ledger import Ledger
from fuzzing.record import Recorded, read_record, write_record

TREE = BUILD / "fuzz"
INPUTS = ROOT / "tests" / "fuzz"
RECORD = INPUTS / "runs.json"
# The longest input: some dozens of steps, but manifests and device trees are longer.
MAX_BYTES = {"manifest": 4096, "devicetree": 4096, "guest_devicetree": 4096}
STEPS_BYTES = 96
HUNG_S = 20
MINIMIZE_S = 20
POLL_S = 0.5
# A run that can be resumed consists of pieces of this many executions: a stop loses at most one.
PIECE_RUNS = 250_000


@dataclass(frozen=True)
class Limits:
    """When a target has run enough: a number of executions, or a time."""

    runs: int | None
    seconds: int | None
    seed: int | None = None  # the same inputs each time, from the same corpus
    resume: bool = False  # `runs` includes executions of the same program by earlier starts


@dataclass(frozen=True)
class Crash:
    """A finding: its description, and the command that reproduces it."""

    sentence: str
    replay: str


@dataclass
class Outcome:
    """Result of one target."""

    target: str
    executions: int = 0
    seconds: float = 0.0
    edges: int = 0
    edges_total: int = 0
    corpus_files: int = 0
    crashes: list[Crash] = field(default_factory=list)

    @property
    def per_second(self) -> int:
        return round(self.executions / self.seconds) if self.seconds else 0

    def as_json(self) -> dict[str, object]:
        return {
            "target": self.target,
            "executions": self.executions,
            "seconds": round(self.seconds, 1),
            "executions_per_s": self.per_second,
            "edges": self.edges,
            "edges_total": self.edges_total,
            "corpus_files": self.corpus_files,
            "crashes": [{"sentence": crash.sentence, "replay": crash.replay} for crash in self.crashes],
        }


def known_targets() -> list[str]:
    return sorted(directory.name for directory in (INPUTS / "seeds").iterdir() if directory.is_dir())


def program(target: str) -> Path:
    return TREE / "tests" / "fuzz" / f"fuzz_{target}"


def corpus(target: str) -> Path:
    return TREE / "corpus" / target


def inputs(target: str) -> list[Path]:
    """Directories with a target's inputs, as far as they exist."""
    return [path for path in (INPUTS / "seeds" / target, INPUTS / "findings" / target) if path.is_dir()]


def _command(target: str, limits: Limits, findings: Path) -> list[str]:
    limit = f"-runs={limits.runs}" if limits.runs is not None else f"-max_total_time={limits.seconds}"
    options = [limit, f"-max_len={MAX_BYTES.get(target, STEPS_BYTES)}"]
    options += [f"-timeout={HUNG_S}", f"-report_slow_units={HUNG_S}"]
    options += [f"-seed={limits.seed}"] if limits.seed is not None else []
    # The code under test does not allocate, and leak detection would run many inputs twice.
    options += ["-entropic=0", "-detect_leaks=0", "-print_final_stats=1", f"-artifact_prefix={findings}/"]
    return [str(program(target)), *options, str(corpus(target)), *map(str, inputs(target))]


def ledger(target: str) -> Ledger:
    recorded = read_record(RECORD).get(target)
    known = (recorded.program, recorded.entry) if recorded is not None else None
    return Ledger(TREE / "ledger" / f"{target}.json", program(target), known)


def record(targets: list[str], commit: str) -> dict[str, Recorded]:
    """Adds the executions of the present programs to the repository's record."""
    kept = read_record(RECORD)
    for target in targets:
        own = ledger(target)
        entry = own.read()
        same = target in kept and kept[target].program == own.digest
        if (entry.executions or entry.findings) and not (same and kept[target].entry == entry):
            kept[target] = Recorded(
                own.digest, commit, entry.executions, round(entry.seconds, 1), entry.findings
            )
    write_record(RECORD, kept)
    return kept


class Job:
    """One running program; of a run that can be resumed, one piece."""

    def __init__(self, target: str, limits: Limits) -> None:
        self.target = target
        self.whole = limits
        self.before = 0
        if limits.resume and limits.runs is not None:
            self.before = min(ledger(target).read().executions, limits.runs)
            limits = replace(limits, runs=max(1, min(PIECE_RUNS, limits.runs - self.before)))
        self.limits = limits
        self.findings = TREE / "findings" / target
        self.log = TREE / "logs" / f"{target}.log"
        for directory in (self.findings, self.log.parent, corpus(target)):
            directory.mkdir(parents=True, exist_ok=True)
        self.began = time.monotonic()
        self.known = set(self.findings.iterdir())
        with self.log.open("wb") as output:
            command = _command(target, limits, self.findings)
            self.process = subprocess.Popen(
                command,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                preexec_fn=die_with_parent,  # a signal can come before the program is in any list
            )

    def fraction(self) -> float:
        """How much of its limit it has used."""
        if self.process.poll() is not None:
            return 1.0
        if self.limits.seconds is not None:
            return min(1.0, (time.monotonic() - self.began) / self.limits.seconds)
        pulses = re.findall(r"^#(\d+)", self.log.read_text(errors="replace"), re.MULTILINE)
        runs = self.before + (int(pulses[-1]) if pulses else 0)
        return min(1.0, runs / self.whole.runs) if self.whole.runs else 0.0

    def outcome(self) -> Outcome:
        text = self.log.read_text(errors="replace")
        outcome = Outcome(self.target, seconds=time.monotonic() - self.began)
        if found := re.search(r"stat::number_of_executed_units:\s*(\d+)", text):
            outcome.executions = int(found[1])
        if found := re.search(r"\((\d+) inline 8-bit counters\)|Loaded \d+ modules\s+\((\d+) inline", text):
            outcome.edges_total = int(found[1] or found[2])
        if edges := re.findall(r"\bcov: (\d+)", text):
            outcome.edges = int(edges[-1])
        outcome.corpus_files = sum(1 for _ in corpus(self.target).iterdir())
        found_files = sorted(set(self.findings.iterdir()) - self.known)
        outcome.crashes = [_crash(self.target, file, text) for file in found_files]
        if self.process.returncode != 0 and not found_files:
            outcome.crashes.append(Crash(_sentence(text), f"less {self.log.relative_to(ROOT)}"))
        if self.limits.resume and outcome.crashes:
            ledger(self.target).add_finding()
        elif self.limits.resume:
            entry = ledger(self.target).add(outcome.executions, outcome.seconds)
            outcome.executions, outcome.seconds = entry.executions, entry.seconds
        return outcome

    def to_be_continued(self, outcome: Outcome) -> bool:
        """Whether another piece of this target is to be run."""
        runs = self.whole.runs
        return self.whole.resume and not outcome.crashes and runs is not None and outcome.executions < runs


def _sentence(text: str) -> str:
    """The log's description of a crash, in one line."""
    for pattern in (r"^broken: .*", r"^.*runtime error: .*", r"^SUMMARY: .*"):
        if found := re.search(pattern, text, re.MULTILINE):
            return found[0]
    return (text.strip().splitlines() or ["no output"])[-1]


def _crash(target: str, file: Path, text: str) -> Crash:
    smallest = file.with_name(f"smallest-{file.name}")
    command: list[str | Path] = [program(target), "-minimize_crash=1", f"-max_total_time={MINIMIZE_S}"]
    command += [f"-exact_artifact_path={smallest}", f"-timeout={HUNG_S}", file]
    subprocess.run(command, capture_output=True, cwd=ROOT, check=False)
    shown = smallest if smallest.is_file() else file
    replay = f"BULKHEAD_FUZZ_TRACE=1 {program(target).relative_to(ROOT)} {shown.relative_to(ROOT)}"
    return Crash(_sentence(text), replay)


def run_all(targets: list[str], limits: Limits, jobs: int, update: Update) -> list[Outcome]:
    """Run all targets, `jobs` at a time; outcomes in the order of the targets."""
    waiting = list(targets)
    running: list[Job] = []
    done: dict[str, Outcome] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Job(waiting.pop(0), limits))
            time.sleep(POLL_S)
            finished = [job for job in running if job.process.poll() is not None]
            running = [job for job in running if job not in finished]
            for job in finished:
                outcome = job.outcome()
                if job.to_be_continued(outcome):
                    waiting.insert(0, job.target)
                else:
                    done[job.target] = outcome
            share = len(done) + sum(job.fraction() for job in running)
            update(share / len(targets), ", ".join(job.target for job in running))
    finally:
        for job in running:
            job.process.kill()
    return [done[target] for target in targets]
