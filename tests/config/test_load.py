# SPDX-License-Identifier: Apache-2.0
"""Loading: places of errors, overrides, defaults, and notices of what is not enforced."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bulkhead.admission.load import Loaded, load_system
from bulkhead.config.load import load_platform
from bulkhead.config.override import apply_override
from bulkhead.config.source import Source, parse_text
from bulkhead.config.system import Expectation
from bulkhead.config.yaml_events import events_of
from bulkhead.planning.demands import admission_of

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "mixed-criticality.yaml"
NORMATIVE = """
bulkhead: 1
name: mixed-criticality
platform: qemu-virt
hypervisor: { llc: { colors: [7] }, console: { default: linux } }
isolation: { llc: auto, banks: none, premap: auto }
regulation: { policy: dynamic, interval: 1 ms, threshold: 80 %, step: adaptive, reclaim: false, overcommit: false }
domains:
  - name: control
    criticality: rt
    cpus: [0]
    image: { elf: guests/periodic.elf }
    memory: [{ at: 0x40000000, size: 16 MiB }]
    llc: { colors: [0, 1, 2] }
    bandwidth: unlimited
    console: true
    params: { period_us: 1000 }
  - name: linux
    cpus: [1, 2]
    image: { kernel: linux:debian, initrd: busybox, cmdline: "console=ttyAMA0 quiet" }
    memory: [{ at: 0x40000000, size: 256 MiB }]
    llc: { colors: [3, 4, 5] }
    bandwidth: { budget: 300 MB/s, period: 1 ms }
    devices: []
    manager: true
    restart: never
  - name: hog
    cpus: [3]
    priority: 5
    image: { elf: guests/hog.elf }
    memory: [{ at: 0x40000000, size: 32 MiB }]
    llc: { colors: [6] }
    bandwidth: { budget: 100 MB/s, period: 1 ms }
    table_placement: ocm
    workload: membomb
broker: { cpu: auto, engine: cpu-copy, chunk: 4 KiB, rate: auto }
flows:
  - { name: camera, from: linux, to: control, port: 5000, size: 4 KiB, period: 5 ms, deadline: 2 ms }
expect: { hog: stopped }
"""  # noqa: E501


def test_every_name_of_the_format_is_known_and_what_is_not_enforced_is_said(tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(NORMATIVE)
    loaded = load_system(path)
    assert loaded.problems == ()
    silent = ("not-checked", "uncounted", "maintenance-shared")
    notices = [notice for notice in loaded.notices if notice.code not in silent]
    said = {notice.key for notice in notices}
    assert said == {"domains[2].priority"}
    assert all(notice.code == "not-enforced" for notice in notices)


def test_samples_that_a_static_policy_keeps_nevertheless_are_said(tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(NORMATIVE)
    for policy, said in (("static", ["regulation.samples"]), ("none", [])):
        notices = load_system(path, [f"regulation.policy={policy}", "regulation.samples=false"]).notices
        assert [notice.key for notice in notices if notice.key.startswith("regulation")] == said


def test_budgets_that_are_held_against_no_figure_are_noticed(tmp_path: Path) -> None:
    """B10: without `dram.guaranteed` every budget is admitted; an emulator has no bandwidth limit."""
    path = tmp_path / "system.yaml"
    path.write_text(NORMATIVE)

    def noticed(*overrides: str, emulated: bool | None = None) -> list[str]:
        found = load_system(path, overrides, emulated=emulated).notices
        return [notice.cause for notice in found if notice.code == "not-checked"]

    (cause,) = noticed()
    assert "400 MB/s in total" in cause and "'qemu-virt' has no `dram.guaranteed`" in cause
    assert noticed(emulated=False) == [cause]
    assert noticed(emulated=True) == []
    unlimited = [f"domains.{name}.bandwidth=unlimited" for name in ("linux", "hog")]
    assert noticed(*unlimited, "regulation.policy=static") == []
    assert noticed("platform=zcu102") == []


def test_admission_names_its_figure_and_where_that_is_from(tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(NORMATIVE)
    loaded = load_system(path, ["platform=zcu102", "domains.hog.bandwidth={budget: 900 MB/s}"])
    (problem,) = [problem for problem in loaded.problems if problem.code == "overcommit"]
    assert "960 MB/s" in problem.cause and "`dram.guaranteed`; published" in problem.cause
    regulated = load_system(ROOT / "examples" / "regulated.yaml")
    assert regulated.system is not None and regulated.platform is not None
    found = admission_of(regulated.system, regulated.platform)
    assert found.guaranteed == 950 * 10**6
    assert found.source.startswith("published")
    assert found.simulated == pytest.approx(932.5e6, rel=0.01)


def test_monitors_need_an_interrupt_that_the_platform_names(tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(NORMATIVE)
    assert load_system(path, ["domains[1].pmu=true"]).ok
    loaded = load_system(path, ["domains[1].pmu=true", "platform=zynq7020"])
    assert any(problem.code == "not-supported" and "pmu" in problem.text() for problem in loaded.problems)


def test_a_budget_in_bytes_is_not_enforced_where_no_memory_event_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(NORMATIVE)
    budgets = {"domains[1].bandwidth", "domains[2].bandwidth"}
    for emulated, noted in ((True, budgets), (False, set()), (None, set())):
        assert not_enforced(load_system(path, emulated=emulated)) & budgets == noted
    in_events = load_system(path, ["domains[1].bandwidth={events: 1000}"], emulated=True)
    assert not_enforced(in_events) & budgets == {"domains[2].bandwidth"}


def not_enforced(loaded: Loaded) -> set[str]:
    return {notice.key for notice in loaded.notices if notice.code == "not-enforced"}


@pytest.mark.parametrize(
    ("bandwidth", "key", "cause"),
    [
        ("{budget: 1 B/s}", "budget", "would never run"),
        ("{budget: 1000 GB/s, period: 3600 s}", "budget", "in a period"),
        ("{events: 10, period: 999 ns}", "period", "999 ns"),
    ],
)
def test_budgets_that_nothing_could_enforce_are_refused(
    tmp_path: Path, bandwidth: str, key: str, cause: str
) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(NORMATIVE)
    static = "regulation.policy=none"
    (problem,) = load_system(path, [static, f"domains[1].bandwidth={bandwidth}"]).problems
    assert problem.key == f"domains[1].bandwidth.{key}"
    assert cause in problem.cause


@pytest.mark.parametrize("period", ["3601 s", "50 us"])
def test_a_period_of_time_that_is_wrong_is_one_error(tmp_path: Path, period: str) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(NORMATIVE)
    cpu = [f"domains[1].cpu={{budget: 200 ms, period: {period}}}", "domains[2].cpu={budget: 1 ms}"]
    shared = ["domains[1].cpus=[0]", "domains[2].cpus=[0]", "regulation.policy=none"]
    (problem,) = load_system(path, [*cpu, *shared]).problems
    assert (problem.key, problem.code) == ("domains[1].cpu.period", "out-of-range")


@pytest.mark.parametrize("name", ["mixed-criticality", "linux-smp", "passthrough"])
def test_the_examples_promise_only_what_is_enforced(name: str) -> None:
    loaded = load_system(ROOT / "examples" / f"{name}.yaml")
    assert loaded.problems == ()
    assert "not-enforced" not in {notice.code for notice in loaded.notices}


def test_a_system_says_how_long_it_is_run() -> None:
    loaded = load_system(ROOT / "examples" / "shared-core.yaml")
    assert loaded.system is not None
    assert loaded.system.run.for_ == 2 * 10**9
    wrong = load_system(ROOT / "examples" / "shared-core.yaml", ("run.for=0 s",))
    assert [problem.key for problem in wrong.problems] == ["run.for"]
    assert [loaded.system.run.duration(simulated=on) for on in (True, False)] == [50 * 10**6, 2 * 10**9]
    anywhere = load_system(ROOT / "examples" / "paths-shared.yaml").system
    assert anywhere is not None
    assert anywhere.run.duration(simulated=True) == anywhere.run.for_ == 10**9


def test_overrides_reach_domains_by_name_and_by_position() -> None:
    loaded = load_system(EXAMPLE, ["domains.control.params.period_us=500", "domains.2.memory[0].size=64 MiB"])
    assert loaded.system is not None
    assert loaded.system.domains[0].params["period_us"] == 500
    assert loaded.system.domains[2].memory[0].size == 64 << 20


def test_overrides_can_add_what_was_not_there() -> None:
    bandwidth = "domains.hog.bandwidth={ budget: 1 MB/s }"
    loaded = load_system(EXAMPLE, ["expect.hog=stopped", bandwidth], emulated=True)
    assert loaded.system is not None
    assert loaded.system.expect["hog"] == Expectation(state="stopped")
    not_enforced = [notice.key for notice in loaded.notices if notice.code == "not-enforced"]
    assert not_enforced == ["domains[2].bandwidth"]


@pytest.mark.parametrize(
    ("setting", "code", "nearest"),
    [
        ("domains.contrl.cpus=[0]", "unknown-name", "control"),
        ("domains.9.cpus=[0]", "unknown-name", None),
        ("isolaton.llc=none", "unknown-key", "isolation"),
        ("isolation.llc=colouring", "bad-value", "coloring"),
        ("domains.hog.cpus=[7]", "out-of-range", None),
        ("name.x=1", "unknown-name", None),
        ("isolation.llc", "bad-override", None),
        ("=1", "bad-override", None),
        ("isolation.llc=", "bad-override", None),
        ("isolation.llc=[", "syntax", None),
        ("domains.0=*x", "alias", None),
    ],
)
def test_a_wrong_override_gives_the_errors_of_a_wrong_file(
    setting: str, code: str, nearest: str | None
) -> None:
    loaded = load_system(EXAMPLE, [setting])
    assert [(problem.code, problem.nearest) for problem in loaded.problems][:1] == [(code, nearest)]
    assert all(problem.file.startswith("--set ") for problem in loaded.problems)
    assert loaded.system is None


def test_unprotected_turns_isolation_and_regulation_off() -> None:
    loaded = load_system(EXAMPLE, ["regulation.policy=static"], unprotected=True)
    assert loaded.system is not None
    assert loaded.system.regulation is None
    isolation = loaded.system.isolation
    assert (isolation.llc, isolation.banks, isolation.premap) == ("none", "none", "none")
    assert loaded.notices == ()


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda path: path.mkdir(), "not-a-file"),
        (lambda _: None, "missing-file"),
        (lambda path: path.write_bytes(b"a: 1\n" * 60_000), "too-large"),
        (lambda path: path.write_bytes("name: ä".encode("utf-16")), "encoding"),
        (lambda path: path.symlink_to(path), "unreadable-file"),
    ],
    ids=["directory", "missing", "large", "utf-16", "loop"],
)
def test_what_is_not_a_text_file_is_one_error(tmp_path: Path, make: object, code: str) -> None:
    path = tmp_path / "system.yaml"
    assert callable(make)
    make(path)
    assert [problem.code for problem in load_system(path).problems] == [code]


def test_places_are_those_of_the_key_or_of_the_value(tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(NORMATIVE.replace("priority: 5", "priorty: 5").replace("size: 32 MiB", "size: 32 MIB"))
    problems = load_system(path).problems
    assert [(p.line, p.column, p.key, p.nearest) for p in problems] == [
        (29, 5, "domains[2].priorty", "priority"),
        (31, 38, "domains[2].memory[0].size", "MiB"),
    ]


def test_reading_never_recurses_as_deep_as_its_input() -> None:
    source = parse_text("[" * 1_100, Source("deep"))
    assert [problem.code for problem in source.problems] == ["too-deep"]
    assert sys.getrecursionlimit() < 1_100


@pytest.mark.parametrize(
    "written",
    [
        "console=ttyAMA0 quiet",
        "'console=ttyAMA0 quiet'",
        '"console=ttyAMA0 quiet"',
        '"console=ttyAMA0\\\n  \\ quiet"',
        "console=ttyAMA0\n  quiet",
        *(f">{mark}\n  console=ttyAMA0\n  quiet\n" for mark in ("", "-", "+", "2-")),
        *(f"|{mark}\n  console=ttyAMA0 quiet\n" for mark in ("", "-", "+", "2-")),
    ],
)
def test_a_text_is_the_same_in_each_style_of_yaml(written: str) -> None:
    """The styles are plain, quoted, folded and literal, the latter with each way to end."""
    source = parse_text(f"text: {written}\nmore: 1\n", Source("t"))
    assert source.root is not None and not source.problems
    assert source.root.plain() == {"text": "console=ttyAMA0 quiet", "more": 1}


def test_a_system_s_texts_can_be_blocks(tmp_path: Path) -> None:
    path = tmp_path / "blocks.yaml"
    block = "cmdline: >-\n        console=ttyAMA0\n        quiet\n"
    text = NORMATIVE.replace(
        'image: { kernel: linux:debian, initrd: busybox, cmdline: "console=ttyAMA0 quiet" }',
        f"image:\n      kernel: linux:debian\n      initrd: busybox\n      {block}",
    )
    path.write_text(text)
    loaded = load_system(str(path))
    assert block in text and loaded.system is not None
    assert loaded.system.domains[1].image.cmdline == "console=ttyAMA0 quiet"


def test_an_override_keeps_the_rest_of_the_tree() -> None:
    source = parse_text("a: { b: 1 }\nc: [x, y]\n", Source("t"))
    assert source.root is not None
    assert apply_override(source.root, "c.1=z") == []
    assert source.root.plain() == {"a": {"b": 1}, "c": ("x", "z")}


@pytest.mark.parametrize(
    ("interrupt", "cause"),
    [
        ("27", "INTID 27 is not a shared interrupt that a guest can have"),
        ("288", "INTID 288 is too high: the hypervisor keeps the state of interrupts up to 287"),
        ("1019", "INTID 1019 is too high: the hypervisor keeps the state of interrupts up to 287"),
        ("33", "INTID 33 is already used by 'uart'"),
    ],
)
def test_a_device_that_can_be_passed_has_shared_interrupts_of_its_own(
    tmp_path: Path, interrupt: str, cause: str
) -> None:
    platform = (ROOT / "platforms" / "qemu-virt.yaml").read_text()
    assert "interrupts: [34]" in platform
    (tmp_path / "board.yaml").write_text(platform.replace("interrupts: [34]", f"interrupts: [{interrupt}]"))
    path = tmp_path / "system.yaml"
    path.write_text(NORMATIVE.replace("platform: qemu-virt", "platform: ./board.yaml"))
    assert [problem.cause for problem in load_system(path).problems] == [cause]


@pytest.mark.parametrize("intid", [31, 288, 987])
@pytest.mark.parametrize("key", ["uart.interrupt", "socket.interrupt", "dma[0].interrupts[0]"])
def test_what_guests_see_has_interrupts_that_they_can_have(key: str, intid: int) -> None:
    _, _, problems = load_platform(ROOT / "platforms" / "zcu102.yaml", overrides=[f"{key}={intid}"])
    causes = [one.cause for one in problems if one.key == key]
    too_high = "is too high: the hypervisor keeps the state of interrupts up to 287"
    why = "is not a shared interrupt that a guest can have" if intid < 32 else too_high
    assert f"INTID {intid} {why}" in causes, problems


def test_examples_of_the_tool_are_known_anywhere_by_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = load_system("examples/mixed-criticality.yaml")
    assert found.ok
    assert found.file == str(EXAMPLE)
    assert load_system("example/mixed-criticality.yaml").problems[0].code == "missing-file"
    own = tmp_path / "examples" / "mixed-criticality.yaml"
    own.parent.mkdir()
    own.write_text("bulkhead: 1\n")
    assert load_system("examples/mixed-criticality.yaml").file == "examples/mixed-criticality.yaml"


def test_the_same_broken_text_is_the_same_problem_each_time() -> None:
    """The result of parsing a text is cached, including its failure, which must not grow with each use."""
    text = "name: [one, two"
    found = [parse_text(text, Source("one.yaml")).problems for _ in range(3)]
    assert len(found[0]) == 1 and found[0][0].code == "syntax"
    assert found[0] == found[1] == found[2]
    _, failure = events_of(text)
    depth, trace = 0, failure.__traceback__ if failure is not None else None
    while trace is not None:
        depth, trace = depth + 1, trace.tb_next
    assert failure is not None and depth <= 3
