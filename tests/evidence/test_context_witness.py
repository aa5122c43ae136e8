# SPDX-License-Identifier: Apache-2.0
"""D2: the table witness reads the entries of streams and the context banks of an SMMUv2, and notices each
one that is wrong.

The registers are composed here from the fields of IHI 0062, without the code that reads them.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bulkhead.env.native import ensure_built
from bulkhead.env.paths import host_dir
from bulkhead.evidence.contexts import Places
from bulkhead.evidence.matching import check_contexts
from bulkhead.evidence.promise import Smmuv2Promise

from .confined_system import CONTROL, CONTROL_TOO, LINUX, NOBODY, OWNERS, VMIDS, VTCR, ConfinedSystem
from .test_table_witness import kinds, make_system

PA = 0xFD80_0000
PLACES = Places(size=128 << 10, entries=48, banks=16)
TRANSLATE, BYPASS, FAULT = 0, 1 << 16, 2 << 16  # S2CR.TYPE
CR0, CR2, IDR0, IDR1 = 0x00, 0x08, 0x20, 0x24
SPACE1, BANKS, PAGE = 0x1000, 0x10000, 0x1000
CLIENTPD, USFCFG, SMCFCFG, VMID16EN = 1 << 0, 1 << 10, 1 << 21, 1 << 31
SMCD, EXSMRGS, EXSMRGENABLE = 1 << 15, 1 << 15, 1 << 31


@dataclass
class Streams(ConfinedSystem):
    """A system whose SMMUv2 is set up as it must be; a test then breaks one thing."""

    def entry(self, number: int, match: int, does: int, mask: int = 0) -> None:
        self.registers[0x800 + 4 * number] = 1 << 31 | mask << 16 | match
        self.registers[0xC00 + 4 * number] = does

    def bank(self, number: int, domain: str) -> None:
        page, root = BANKS + number * PAGE, self.system.roots[domain]
        self.registers[SPACE1 + 4 * number] = VMIDS[domain]
        self.registers[SPACE1 + 0x800 + 4 * number] = 1
        self.registers[page + 0x00] = 0x165
        self.registers[page + 0x20], self.registers[page + 0x24] = root & 0xFFFF_FFFF, root >> 32
        self.registers[page + 0x30] = VTCR & ~0x3F & 0x7FFFF | 33 | 1 << 31  # addresses of 31 bits

    def change(self, offset: int, bits: int) -> None:
        self.registers[offset] ^= bits


@pytest.fixture
def streams() -> Streams:
    system = make_system()
    system.promise = replace(system.promise, smmu=Smmuv2Promise(PA, OWNERS, PLACES, 31))
    found = Streams(system, dict.fromkeys(PLACES.registers(), 0))
    found.registers[CR0] = SMCFCFG | USFCFG
    found.registers[IDR0] = 0b111 << 28 | 1 << 27 | 15 << 9 | 48
    found.registers[IDR1] = 3 << 28 | SMCD | 16
    found.entry(0, CONTROL, TRANSLATE | 0)
    found.entry(1, CONTROL_TOO, FAULT)  # as of a stopped domain
    found.entry(2, LINUX, TRANSLATE | 1)
    found.bank(0, "control")
    found.bank(1, "linux")
    return found


def test_d2_entries_and_banks_as_promised_hold(streams: Streams) -> None:
    witness = streams.check()
    assert witness.ok and witness.findings == []
    assert witness.streams_checked == 1 << 15


def test_d2_a_vmid_of_16_bits_is_where_it_is_enabled(streams: Streams) -> None:
    streams.change(CR0, VMID16EN)
    assert kinds(streams.check()) == ["stream_entry"] * 2
    for bank, domain in enumerate(VMIDS):
        streams.registers[SPACE1 + 0x800 + 4 * bank] = VMIDS[domain] << 16 | 1
    assert streams.check().ok


def bypass(number: int) -> Callable[[Streams], None]:
    return lambda s: s.registers.update({0xC00 + 4 * number: BYPASS})


BREAKS: dict[str, tuple[Callable[[Streams], None], str, str]] = {
    "disabled": (lambda s: s.change(CR0, CLIENTPD), "smmu_disabled", "it is not enabled"),
    "others pass": (lambda s: s.change(CR0, USFCFG), "stream_of_nobody", "streams without an entry pass"),
    "bypass": (bypass(0), "stream_entry", "entry 0, of domain control: it lets pass"),
    "bypass of nobody": (
        lambda s: s.entry(20, NOBODY, BYPASS),
        "stream_of_nobody",
        "stream 0xa, which no domain has: entry 20 lets pass",
    ),
    "tables of nobody": (
        lambda s: s.entry(20, NOBODY, TRANSLATE | 1),
        "stream_of_nobody",
        "stream 0xa, which no domain has: entry 20 translates",
    ),
    "mask": (
        lambda s: s.entry(0, CONTROL, TRANSLATE | 0, mask=2),
        "stream_of_nobody",
        "stream 0xa, which no domain has: entry 0 translates",
    ),
    "foreign root": (
        lambda s: s.change(BANKS + PAGE + 0x20, 0x1000),
        "stream_entry",
        "entry 2, of domain linux: its tables are at PA",
    ),
    "no such bank": (
        lambda s: s.entry(2, LINUX, TRANSLATE | 40),
        "stream_entry",
        "its context bank does not exist",
    ),
    "foreign VMID": (
        lambda s: s.change(SPACE1 + 4 * 1, 3),
        "stream_entry",
        "its VMID is 1, that of the domain 2",
    ),
    "stage 1": (lambda s: s.change(SPACE1, 1 << 16), "stream_entry", "its context bank has stage 1 alone"),
    "bank off": (lambda s: s.change(BANKS, 1), "stream_entry", "its context bank lets pass"),
    "other byte order": (lambda s: s.change(BANKS, 1 << 4), "stream_entry", "its format of tables"),
    "tables of AArch32": (lambda s: s.change(SPACE1 + 0x800, 1), "stream_entry", "its format of tables"),
    "other format": (lambda s: s.change(BANKS + 0x30, 1 << 6), "stream_entry", "its format of tables"),
    "more addresses": (
        lambda s: s.change(BANKS + 0x30, 1),
        "stream_entry",
        "its addresses have 32 bits, and 31 at most are allowed",
    ),
    "no entry": (
        lambda s: s.change(0x804, 1 << 31),
        "stream_without_entry",
        "stream 0x100 of domain control has no entry",
    ),
    "stream indexing": (lambda s: s.change(IDR0, 1 << 27), "smmu_unreadable", "does not match streams"),
    "extended entries": (
        lambda s: s.registers.update({IDR0: s.registers[IDR0] | EXSMRGS, CR2: EXSMRGENABLE}),
        "smmu_unreadable",
        "extended entries",
    ),
    "larger pages": (lambda s: s.change(IDR1, 1 << 31), "smmu_unreadable", "at other places"),
    "other banks": (lambda s: s.change(IDR1, 1), "smmu_unreadable", "17 context banks"),
}


@pytest.mark.parametrize("what", BREAKS)
def test_d2_one_thing_that_is_wrong_is_found(streams: Streams, what: str) -> None:
    break_it, kind, text = BREAKS[what]
    break_it(streams)
    witness = streams.check()
    assert kinds(witness) == [kind], witness.findings
    assert text in witness.findings[0].text and not witness.ok


@pytest.mark.parametrize(("register", "bit"), [(CR0, SMCFCFG), (IDR1, SMCD)], ids=["passes", "not detected"])
def test_d2_two_entries_of_a_stream_are_found_unless_they_are_a_fault(
    streams: Streams, register: int, bit: int
) -> None:
    streams.entry(20, CONTROL, TRANSLATE | 0)
    assert streams.check().ok
    streams.change(register, bit)
    witness = streams.check()
    assert kinds(witness) == ["stream_entry"]
    assert "stream 0x8 has the entries 0 and 20" in witness.findings[0].text


def test_d2_an_entry_of_two_domains_is_wrong_for_one(streams: Streams) -> None:
    streams.entry(0, CONTROL, TRANSLATE | 0, mask=1)
    streams.registers[0x808] = 0  # no entry of its own
    witness = streams.check()
    assert set(kinds(witness)) == {"stream_entry"}
    assert all("of domain linux" in finding.text for finding in witness.findings)


def test_d2_an_entry_must_not_translate_for_a_domain_without_tables(streams: Streams) -> None:
    """Also if the bank has the same root and VMID as nothing: 0."""
    for offset in (SPACE1, BANKS + 0x20, BANKS + 0x24):
        streams.registers[offset] = 0
    promise = streams.system.promise.smmu
    assert isinstance(promise, Smmuv2Promise)
    known = {"linux": streams.vttbr("linux")}
    found = check_contexts(promise, streams.registers, known, {"linux": VTCR})
    text = "entry 0, of domain control: it translates, and the domain has no tables"
    assert found.findings == [("stream_entry", text)]


def test_d2_registers_that_were_not_read_are_a_finding(streams: Streams) -> None:
    assert kinds(streams.check(registers=False)) == ["smmu_unreadable"]
    streams.registers = {}
    assert kinds(streams.check()) == ["smmu_unreadable"]


DRIVER_TEST = "hypervisor_smmuv2_test"


def test_d2_what_the_driver_writes_is_as_promised(tmp_path: Path) -> None:
    """The driver has set up its own register model; the second of two domains was stopped since."""
    ensure_built(["host"], [DRIVER_TEST])
    program = next(path for path in host_dir().glob(f"tests/**/{DRIVER_TEST}") if path.is_file())
    out = tmp_path / "result.json"
    name = "Smmuv2.D2_TheTableWitnessReadsWhatTheDriverWrites"
    subprocess.run([program, f"--gtest_filter={name}", f"--gtest_output=json:{out}"], check=True)
    found = json.loads(out.read_text())["testsuites"][0]["testsuite"][0]
    registers = {
        int(offset, 16): int(value, 16)
        for offset, value in (pair.split("=") for pair in found["registers"].split())
    }
    names = ("control", "linux")
    vttbr = {name: int(found[f"vttbr{number}"]) for number, name in enumerate(names)}
    vtcr = {name: int(found[f"vtcr{number}"]) for number, name in enumerate(names)}
    promise = Smmuv2Promise(PA, OWNERS, PLACES, 31)
    assert check_contexts(promise, registers, vttbr, vtcr).findings == []
    assert check_contexts(replace(promise, input_bits=30), registers, vttbr, vtcr).findings
    swapped = replace(promise, streams={**OWNERS, CONTROL: "linux", LINUX: "control"})
    assert {kind for kind, _ in check_contexts(swapped, registers, vttbr, vtcr).findings} == {"stream_entry"}
