# SPDX-License-Identifier: Apache-2.0
"""Report: the page is self-contained, compares runs, and shows guests' texts safely."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from fractions import Fraction
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from rich.console import Console

from bulkhead.config.system import Expectation
from bulkhead.planning.device_rates import DeviceRate, RateRegister
from bulkhead.report.html import command_of, render, write_html
from bulkhead.report.load import LoadedRun, NotARun, load_run
from bulkhead.report.style import PALETTE, WRONG, text_on
from bulkhead.report.terminal import show_run
from bulkhead.results.problem import ProblemResult
from bulkhead.run.target import RunOptions

from ..command_line import invoked, run_json
from ..json_results import validated
from ..run.made_up import UNPROTECTED_EVICTIONS, MadeUp


@pytest.fixture
def isolated(tmp_path: Path) -> LoadedRun:
    MadeUp(tmp_path / "isolated").result()
    return load_run(tmp_path / "isolated")


@pytest.fixture
def unprotected(tmp_path: Path) -> LoadedRun:
    given = ("run", "a system.yaml", "--observe", "--for", "20s", "--unprotected", "--no-icount")
    options = RunOptions(observe=True, unprotected=True, for_ns=20 * 10**9, repeat=given)
    MadeUp(tmp_path / "open", colored=False, options=options, evicted=UNPROTECTED_EVICTIONS).result()
    return load_run(tmp_path / "open")


def shown(run: LoadedRun, width: int = 80) -> str:
    console = Console(width=width, record=True, force_terminal=True, file=io.StringIO())
    show_run(run, console)
    return console.export_text()


def test_page_needs_nothing_from_elsewhere(isolated: LoadedRun, unprotected: LoadedRun) -> None:
    page = render([unprotected, isolated])
    references = re.findall(r"""(?:src|href)\s*=\s*["']([^"']*)|url\(([^)]*)\)""", page)
    assert all((a or b).startswith(("#", "data:")) for a, b in references)
    assert "<script" not in page


def test_page_compares_runs(isolated: LoadedRun, unprotected: LoadedRun) -> None:
    page = render([unprotected, isolated])
    for words in (
        "Who evicted whom",
        "Over time",
        "Exits to the hypervisor",
        "Colors of all mapped frames",
        "63\u202f701",
        "--unprotected",
        "ab" * 32,
        "0123456789ab",
    ):
        assert words in page


@pytest.mark.parametrize(("icount", "shown"), [(True, 1), (False, 0)])
def test_jitter_is_of_counted_time(tmp_path: Path, icount: bool, shown: int) -> None:
    """In the time of the emulator's host, it would show how busy the host was."""
    MadeUp(tmp_path / "r", options=RunOptions(icount=icount, for_ns=20 * 10**9)).result()
    assert render([load_run(tmp_path / "r")]).count("<h3>Release jitter") == shown


def test_what_was_expected_is_shown_with_what_came_of_it(tmp_path: Path) -> None:
    expects = {
        "control": Expectation.model_validate({"ready": "1 ms"}),
        "linux": Expectation.model_validate({"ready": True}),
        "hog": Expectation.model_validate({"throttled": True}),
    }
    result = MadeUp(tmp_path / "r", expects=expects).result()
    assert result["reasons"] == [
        "domain control: expected ready within 1.000 ms, but it was ready after 10.400 ms"
    ]
    run = load_run(tmp_path / "r")
    for text in (shown(run, 160), re.sub("<[^>]*>", "", unescape(render([run])))):
        assert "control: expected ready within 1.000 ms: it was ready after 10.400 ms" in text
        assert "linux: expected ready by the end of the run: it was ready after 2.104 s" in text
        assert "nothing limits it in this run; not judged" in text


def test_page_is_well_formed(isolated: LoadedRun) -> None:
    open_tags: list[str] = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in ("meta", "br"):
                open_tags.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

        def handle_startendtag(self, tag: str, attrs: object) -> None: ...

    Parser().feed(render([isolated]))
    assert open_tags == []


def test_miscolored_frame_is_named(tmp_path: Path) -> None:
    MadeUp(tmp_path / "m", miscolored=True).result()
    run = load_run(tmp_path / "m")
    words = "color 0 is not among its colors {3, 4, 5}"
    assert words in render([run]) and words in shown(run, 200)


@pytest.mark.parametrize(
    "report",
    [
        '{"histogram": ["<script>alert(1)</script>"]}',
        '{"histogram": [1e999, -5]}',
        '{"histogram": [' + "9" * 400 + "]}",
        '{"histogram": {}}',
        '"<script>"',
        "[]",
    ],
)
def test_what_a_guest_reports_cannot_hurt(tmp_path: Path, report: str) -> None:
    console = b"[control      1.000000] report " + report.encode() + b"\r\n"
    MadeUp(tmp_path / "r", console=console, options=RunOptions(icount=True)).result()
    assert "<script" not in render([load_run(tmp_path / "r")])


def test_terminal_ends_with_the_verdict(isolated: LoadedRun, unprotected: LoadedRun) -> None:
    assert shown(isolated).strip().splitlines()[-1] == "ok: every promise held for 20 s of guest time"
    assert shown(unprotected).strip().splitlines()[-1].startswith("ok: all domains as expected")
    assert "63\u202f701" in shown(unprotected)


def test_what_was_not_enforced_is_said(tmp_path: Path) -> None:
    """`every promise held` must not be read as if a budget had been one of them."""
    notice: ProblemResult = {
        "file": "system.yaml",
        "line": None,
        "column": None,
        "key": "domains[1].bandwidth",
        "code": "unsupported",
        "cause": "the budget of 'linux': not enforced by this version",
        "allowed": None,
        "nearest": None,
    }
    result = MadeUp(tmp_path / "run", notices=(notice,)).result()
    run = load_run(tmp_path / "run")
    assert result["notices"] == [notice]
    for text in (shown(run, 120), unescape(render([run]))):
        assert "domains[1].bandwidth: the budget of 'linux': not enforced by this version" in text


def test_d2_refused_accesses_of_devices_are_shown(tmp_path: Path, isolated: LoadedRun) -> None:
    result = MadeUp(tmp_path / "run").result()
    smmu = dict.fromkeys(("failed_accesses", "overflows", "global_errors", "interrupts", "unanswered"), 0)
    result["hypervisor"]["smmu"] = {**smmu, "unowned_accesses": 3}
    for domain, times in zip(result["domains"], (0, 1744, 0), strict=True):
        domain["refused_accesses"] = times
    validated(result)
    for lost, least in ((0, ""), (1, "at least ")):
        result["hypervisor"]["smmu"]["overflows"] = lost
        (tmp_path / "run" / "report.json").write_text(json.dumps(result))
        run = load_run(tmp_path / "run")
        for text in (shown(run, 200), unescape(render([run]))):
            assert f": {least}1 744 accesses of devices of linux were refused" in text.replace("\u202f", " ")
            assert f": {least}3 accesses of devices that no domain has were refused" in text
            assert "devices of control" not in text
    for text in (shown(isolated, 200), unescape(render([isolated]))):
        assert "accesses of devices" not in text


def test_c5_the_observer_says_that_it_sees_no_dma(tmp_path: Path, isolated: LoadedRun) -> None:
    """The emulator reports no access of a device, so `0 lines evicted by others` is without them."""
    disk = DeviceRate("disk", "linux", declared=None, most=None)
    result = MadeUp(tmp_path / "run", device_rates={"linux": (disk,)}).result()
    assert result["witnesses"]["observer"]["unseen"] == ["DMA of disk (linux)"]
    run = load_run(tmp_path / "run")
    for text in (shown(run, 200), unescape(render([run]))):
        assert "0 cache lines of domains evicted by others; it sees no DMA of disk (linux)" in text
    assert "unseen" not in isolated.report["witnesses"]["observer"]
    assert "it sees no" not in shown(isolated, 200)


def test_c5_the_observer_says_which_accesses_it_did_not_count(tmp_path: Path, isolated: LoadedRun) -> None:
    result = MadeUp(tmp_path / "run").result()
    counts = result["witnesses"]["observer"]["unattributed"]
    counts |= {"fetches_unknown": 2, "zeroed_blocks": 4000, "zeroed_unknown": 31}
    (tmp_path / "run" / "report.json").write_text(json.dumps(result))
    run = load_run(tmp_path / "run")
    said = (
        "not counted, because their addresses are unknown: 2 fetches, 31 of 4 000 blocks that DC ZVA zeroed"
    )
    for text in (shown(run, 200), unescape(render([run]))):
        assert said in text.replace("\u202f", " ")
    assert "not counted" not in shown(isolated, 200)


def test_d1_trust_qualifies_the_verdict_and_the_tables(tmp_path: Path, isolated: LoadedRun) -> None:
    """A report that states kept promises also names the devices that bypass them."""
    result = MadeUp(tmp_path / "run", unconfined={"linux": ("disk", "nic")}).result()
    assert [domain["unconfined_devices"] for domain in result["domains"]] == [[], ["disk", "nic"], []]
    assert result["witnesses"]["tables"]["not_bound"] == ["DMA of disk (linux)", "DMA of nic (linux)"]
    run = load_run(tmp_path / "run")
    for text in (shown(run, 200), unescape(render([run]))):
        assert "0 wrong; tables do not bind DMA of disk (linux), DMA of nic (linux)" in text
        assert "if you trust linux with the DMA of disk and nic" in text
    verdict = shown(run, 200).strip().splitlines()[-1]
    assert verdict.endswith("of guest time, if you trust linux with the DMA of disk and nic")
    for text in (shown(isolated, 200), unescape(render([isolated]))):
        assert "DMA" not in text
        assert "if you trust" not in text


def test_d5_a_report_states_that_nothing_limits_a_device_and_what_admission_counts(
    tmp_path: Path, isolated: LoadedRun
) -> None:
    register = RateRegister(0xFE14_4000, 10, Fraction(15_625_000))
    rates = (
        DeviceRate("disk", "linux", 100 * 10**6, 900 * 10**6),
        DeviceRate("nic", "linux", 250 * 10**6, None),
        DeviceRate("camera", "linux", None, None),
        DeviceRate("held", "linux", 320 * 10**6, None, register),
        DeviceRate("not-held", "linux", 320 * 10**6, None, register, is_emulated=True),
    )
    result = MadeUp(tmp_path / "run", device_rates={"linux": rates}).result()
    assert [one["charged_bytes_per_s"] for one in result["domains"][1]["device_rates"]] == [
        900 * 10**6,
        250 * 10**6,
        None,
        312_500_000,
        312_500_000,
    ]
    run = load_run(tmp_path / "run")
    for text in (shown(run, 200), unescape(render([run]))):
        assert "nothing limits disk of linux: it moves up to 900 MB/s" in text
        assert "nothing limits nic of linux: 250 MB/s are declared" in text
        assert "camera of linux: no rate of it is known" in text
        assert "a QoS-400 regulator limits held of linux to 312.5 MB/s" in text
        assert "nothing limits not-held of linux: 320 MB/s are declared" in text
    for text in (shown(isolated, 200), unescape(render([isolated]))):
        assert "nothing limits" not in text


def shared_core(broken: list[str]) -> dict[str, object]:
    promises = {"budgets": [], "recharges": broken, "priorities": []}
    return {
        "core": 1, "scheduler": "fixed-priority", "slice_ns": 0, "switches": 1200,
        "exit_reasons": {"wfx": 40_000}, "vcpus": [{"domain": "control", "run_ns": 5 * 10**9}],
        "promises": {name: {"kept": not why, "broken": why} for name, why in promises.items()},
    }  # fmt: skip


def test_promises_of_shared_cores_are_shown(isolated: LoadedRun) -> None:
    """B2: they are not in the JSON result alone; exits of such a core are not assigned to a domain."""
    vcpus = [{"vcpu": 0, "core": 1, "exits": None}]
    events = {
        "event": "INST_RETIRED", "budget": 1000, "period_ns": 10**6, "shared": False, "vcpus": [],
        "max_per_period": 1006, "overshoot_max": 6, "throttled_periods": 3, "periods": 9,
    }  # fmt: skip
    domain = isolated.domains[0] | {"vcpus": vcpus, "events": events}
    for broken, words in (
        ([], "shared (fixed-priority): budgets, recharges and priorities kept; had the core: control 25.0%;"),
        (["late"], "shared (fixed-priority): budgets and priorities kept; recharges broken; had the core"),
    ):
        report = isolated.report | {"domains": [domain], "shared_cores": [shared_core(broken)]}
        run = replace(isolated, report=report)
        for text in (shown(run, 200), unescape(render([run]))):
            assert words in text
            assert "1\u202f200 switches, 2\u202f000 exits/s" in text
            assert "1\u202f000 INST_RETIRED in each 1 ms; at most 1\u202f006 on a core" in text
        (row,) = (line for line in shown(run, 200).splitlines() if line.startswith("control"))
        assert "–" in row, "of its exits"


def flow(**changes: object) -> dict[str, object]:
    return {
        "name": "camera", "from": "linux", "to": "control", "port": 5000, "packets": 1024,
        "bytes": 67_108_864,
        "latency_ns": {"min": 1_000_000, "mean": 1_234_000, "max": 3_043_712},
        "bound_ns": None, "deadline_ns": 10**7,
        "control_packets": 3, "misses": 0, "replaced_misses": 0, "lost": 0, "refused": 0, "state": "open",
        **changes,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("on", "misses", "words"),
    [
        ("emulator", 7, "latencies are those of the emulator's host"),
        ("machine", 0, "0 of 1\u202f027 packets were late"),
        ("machine", 7, "7 of 1\u202f027 packets were late"),
    ],
)
def test_flows_are_shown_with_what_latencies_say(
    isolated: LoadedRun, on: str, misses: int, words: str
) -> None:
    report = isolated.report | {"on": on, "flows": [flow(misses=misses, state="closed")]}
    run = replace(isolated, report=report)
    for text in (shown(run, 200), unescape(render([run]))):
        assert words in text
        assert "camera" in text
        assert "control:5000" in text
        assert "67\u202f108\u202f864" in text


def test_latencies_of_counted_time_are_not_called_the_hosts(isolated: LoadedRun) -> None:
    report = isolated.report | {"on": "qemu", "flows": [flow()], "options": {"icount": True}}
    assert "latencies are of counted time" in shown(replace(isolated, report=report), 200)


def test_flows_without_packets_are_no_success(isolated: LoadedRun) -> None:
    idle = flow(packets=0, bytes=0, latency_ns=dict.fromkeys(("min", "mean", "max")))
    said = "flow camera: no packet was delivered, so its deadline was not tested"
    run = replace(isolated, report=isolated.report | {"on": "machine", "flows": [idle], "not_shown": [said]})
    for text in (shown(run, 200), unescape(render([run]))):
        assert said in text
        assert "0 of 0" not in text
    assert "1 promise was not tested" in shown(run, 200).splitlines()[-1]


def test_command_to_repeat(isolated: LoadedRun, unprotected: LoadedRun) -> None:
    """It contains the user's options, which the run has kept (tests/commands/test_repeat.py)."""
    command = "./bulkhead run 'a system.yaml' --observe --for 20s --unprotected --no-icount"
    assert command_of(unprotected) == command
    assert command in unescape(render([unprotected]))
    assert command_of(isolated) is None
    assert "made by another command" in render([isolated])


def test_run_that_never_started_has_a_page(tmp_path: Path) -> None:
    MadeUp(tmp_path / "n", system={"magic": 0}, options=RunOptions(), console=b"").result()
    assert "ended before it wrote" in render([load_run(tmp_path / "n")])


@pytest.mark.parametrize(
    "content",
    [
        None,
        "{",
        "[" * 100_000,
        "[]",
        '{"command": "check"}',
        '{"command": "run", "domains": [1]}',
        '{"command": "run", "domains": [{}]}',
    ],
    ids=["missing", "cut short", "deep", "list", "another command", "no domain", "nameless domain"],
)
def test_not_a_run(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "report.json").write_text(content)
    with pytest.raises(NotARun):
        load_run(tmp_path)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ({"flows": [{"name": "f"}]}, "report.json: "),
        ({"events": {}}, "report.json: "),
        ({"options": None}, "report.json: "),
        ({"witnesses": []}, "report.json: "),
        ({"admitted": {}}, "report.json: "),
    ],
)
def test_a_result_of_another_version_that_cannot_be_shown_says_so(
    tmp_path: Path, content: dict[str, Any], place: str
) -> None:
    report = {"command": "run", "domains": [{"name": "a"}], **content}
    (tmp_path / "report.json").write_text(json.dumps(report))
    done = invoked("report", tmp_path, "-o", tmp_path / "page.html")
    assert done.exit_code == 1
    assert f"{tmp_path}/{place}" in done.stderr
    assert "another version has written it, or it is damaged" in done.stderr
    code, result = run_json("report", tmp_path, "-o", tmp_path / "page.html")
    assert (code, result["files"]) == (1, [])
    assert "another version" in result["reasons"][0]


@pytest.mark.parametrize(
    "about", ["{", "[]", '{"options": null, "command": 3}', '{"options": {"repeat": 3}}']
)
def test_damaged_data_of_one_run_are_left_out(tmp_path: Path, about: str) -> None:
    MadeUp(tmp_path / "r").result()
    (tmp_path / "r" / "run.json").write_text(about)
    run = load_run(tmp_path / "r")
    assert command_of(run) is None
    assert "QEMU –" in render([run])


def test_a_page_of_a_file_whose_name_is_no_text_is_written(isolated: LoadedRun, tmp_path: Path) -> None:
    name = b"e\xff.yaml".decode("utf-8", "surrogateescape")
    run = replace(isolated, about={"options": {"repeat": ["run", name]}, "command": []})
    write_html([run], tmp_path / "page.html")
    assert "e\\udcff.yaml" in (tmp_path / "page.html").read_text()


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotARun, match="nowhere does not exist"):
        load_run(tmp_path / "nowhere")


def test_the_page_begins_with_the_result(isolated: LoadedRun, unprotected: LoadedRun) -> None:
    page = BeautifulSoup(render([unprotected, isolated]), "html.parser")
    lost = sum(domain["llc"]["evicted_by_others"] for domain in unprotected.domains)
    headline = page.select_one(".headline")
    assert headline is not None and lost > 0
    counts = [found.text.replace("\u202f", "") for found in headline.select("b")]
    assert counts == [str(lost), "0"]
    assert page.text.index("evicted by others") < page.text.index("Verdict")


def test_a_run_that_lost_lines_is_not_simply_ok(isolated: LoadedRun, unprotected: LoadedRun) -> None:
    page = BeautifulSoup(render([unprotected, isolated]), "html.parser")
    badges = [(found.text, found["class"]) for found in page.select(".badge")]
    assert badges == [("ok: nothing promised, lines lost", ["badge", "warn"]), ("ok", ["badge", "good"])]


def test_the_page_can_be_read_aloud(isolated: LoadedRun, unprotected: LoadedRun) -> None:
    page = BeautifulSoup(render([unprotected, isolated]), "html.parser")
    ids = [found["id"] for found in page.find_all(id=True)]
    assert len(ids) > 100 and len(ids) == len(set(ids))
    referenced = set(re.findall(r"url\(#([^)]+)\)", str(page))) | set(
        re.findall(r'href="#([^"]+)"', str(page))
    )
    assert referenced and referenced <= set(ids)
    assert all(found.get("role") == "img" and found.get("aria-label") for found in page.find_all("svg"))
    assert all(found.caption is not None for found in page.find_all("table"))
    assert all(found.get("scope") == "col" for found in page.find_all("th"))


def luminance(code: str) -> float:
    parts = [int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(color: str, other: str) -> float:
    low, high = sorted((luminance(color), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("color", [*PALETTE, WRONG, "#8a8f98"])
def test_text_on_a_color_has_contrast(color: str) -> None:
    """4.5 at least, as WCAG 2.2 asks of text."""
    assert contrast(color, text_on(color)) >= 4.5


@pytest.mark.parametrize("color", [*PALETTE, WRONG])
def test_a_color_is_seen_on_light_and_dark_pages(color: str, isolated: LoadedRun) -> None:
    """3 at least, as WCAG 2.2 asks of what is drawn."""
    cards = re.findall(r"--card: (#[0-9a-f]{6});", render([isolated]))
    assert len(cards) == 2
    assert min(contrast(color, card) for card in cards) >= 3
