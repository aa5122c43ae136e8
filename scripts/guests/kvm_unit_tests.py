# SPDX-License-Identifier: Apache-2.0
"""kvm-unit-tests for arm64 (https://gitlab.com/kvm-unit-tests/kvm-unit-tests), built in a user's directory:

    ./configure --arch=arm64 --cross-prefix=aarch64-linux-gnu- && make

Its list `arm/unittests.cfg` gives the programs with their arguments and numbers of CPUs."""

from __future__ import annotations

import configparser
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from guests.case import GUEST, RAM, Case, Seen, Verdict

SUITE = "kvm-unit-tests"
LOAD_OFFSET = 0x80000  # arm/run: where an emulator's `-kernel` puts a file without a header
CORES = 4
_SECONDS = 120  # an interrupt to another core takes a quarter of a millisecond on a busy host
# Programs that are missing in its list, or not for every configuration.
_NOT_LISTED = {"pl031": {"file": "pl031.flat"}}
_ALL_SKIPPED = 38
_STATUS = re.compile(r"^EXIT: STATUS=(\d+)$", re.MULTILINE)
_OUTCOME = re.compile(r"^(PASS|FAIL|XPASS|SKIP): (.*)$", re.MULTILINE)
# It reads a virtio device at the first address of the emulator's board, where a domain with a flow has its
# socket.
_WITH_A_FLOW = ("micro-bench",)
_FLOW = {
    "domains": [
        {
            "name": "sink",
            "cpus": [2],
            "image": {"elf": "guests/socket_sink.elf"},
            "memory": [{"at": RAM, "size": "8 MiB"}],
        }
    ],
    "broker": {"cpu": 3},
    "flows": [
        {
            "name": "none",
            "from": GUEST,
            "to": "sink",
            "port": 1,
            "size": "4 KiB",
            "period": "10 ms",
            "deadline": "10 ms",
        }
    ],
}
# Features of the emulator's machines that a domain does not have.
_LEFT_OUT = {
    "pci": "needs a test device that the emulator has for it",
    "migration": "needs a monitor that migrates it",
    "mte": "no core of the emulator's board has memory tags",
    "nodefault": "not of the list that runs by default",
}


def cases(directory: Path) -> Iterator[Case]:
    """Cases for each section of the list that a domain can run. `directory`: a checkout that was built."""
    listed = configparser.RawConfigParser(interpolation=None, strict=False)
    listed.read(directory / "arm" / "unittests.cfg", encoding="utf-8")
    listed.read_dict(_NOT_LISTED)
    for name in listed.sections():
        section = dict(listed[name])
        left_out = set(section.get("groups", "").split()) & set(_LEFT_OUT)
        if not left_out or name in _WITH_A_FLOW:
            yield _case(directory, name, section)


def _case(directory: Path, name: str, section: dict[str, str]) -> Case:
    image: dict[str, Any] = {
        "raw": str(directory / "arm" / section["file"]),
        "at": RAM + LOAD_OFFSET,
        "cmdline": " ".join(shlex.split(section.get("test_args", ""))),
    }
    gicv2 = "gic-version=2" in section.get("qemu_params", "")
    domain: dict[str, Any] = {"image": image, "cpus": list(range(_cpus(section.get("smp", "1"))))}
    domain |= {"faults": "abort"}
    monitors = "pmu" in section.get("groups", "")
    if monitors:
        domain |= {"pmu": True}
    if section["file"] == "pl031.flat":
        domain |= {"devices": ["rtc"]}
    platform = "qemu-virt-gicv2" if gicv2 else "qemu-virt"
    if "its" in section.get("groups", ""):  # a domain has an ITS if it has a function with message interrupts
        domain |= {"devices": ["nvme"]}
        platform = "qemu-virt-smmu"
    beside = _FLOW if name in _WITH_A_FLOW else {}
    return Case(SUITE, name, domain, _SECONDS, platform, monitors, judge=judge, beside=beside)


def _cpus(said: str) -> int:
    """`2`, `$MAX_SMP`, or `$((($MAX_SMP < 8)?$MAX_SMP:8))`."""
    numbers = [int(number) for number in re.findall(r"\d+", said)]
    return min([CORES, *numbers])


def judge(seen: Seen) -> Verdict:
    """The program's own report: an outcome in each line, and a status at its end."""
    outcomes = _OUTCOME.findall(seen.lines)
    failed = [what for outcome, what in outcomes if outcome in ("FAIL", "XPASS")]
    status = _STATUS.search(seen.lines)
    count = sum(outcome == "PASS" for outcome, _ in outcomes)
    if status is None:
        return Verdict(False, f"{count} passed, then: {seen.reasons if seen.reasons else 'no end'}")
    code = int(status[1]) >> 1
    if code in (0, _ALL_SKIPPED) and not failed:
        skipped = [what for outcome, what in outcomes if outcome == "SKIP"]
        if count == 0 and (skipped or code == _ALL_SKIPPED):
            return Verdict(None, f"skipped: {skipped[0]}" if skipped else "skipped")
        said = f"{count} passed" if count else ""  # a benchmark has no outcomes
        return Verdict(True, said + (f", {len(skipped)} skipped" if skipped else ""))
    return Verdict(False, f"{count} passed, {len(failed)} failed (status {code}): {'; '.join(failed[:3])}")
