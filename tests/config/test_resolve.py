# SPDX-License-Identifier: Apache-2.0
"""A resolved file (`bulkhead plan -o`) is the same system and plans to the same, for every key that a file
can have."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bulkhead.admission.load import load_system
from bulkhead.config.file_form import FileForm
from bulkhead.config.named import FIRMWARE
from bulkhead.config.platform import Platform
from bulkhead.config.quantity import BYTE_UNITS, RATE_UNITS, SHARE_UNITS, TIME_UNITS, amount_text, parse
from bulkhead.config.shares import Colored
from bulkhead.config.source import Source, parse_text
from bulkhead.config.system import BROKER, System
from bulkhead.config.validate import validate
from bulkhead.env.board_firmware import NAMES
from bulkhead.package.manifest import PlacedPiece, pack_manifest
from bulkhead.package.memory import LoadedMemory
from bulkhead.planning.broker import names_of
from bulkhead.planning.broker_parts import with_broker
from bulkhead.planning.budgets import counted_event
from bulkhead.planning.model import Plan
from bulkhead.planning.plan import PlanningError, plan_memory
from bulkhead.planning.resolve import file_text, resolved_system, resolved_text
from bulkhead.schema import load_layout

from .mpam_board import DOMAINS, planned
from .system_forms import forms_of
from .test_shares_property import AMOUNT, COMPONENTS, DOMAIN, asked_for, described

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(file for file in (ROOT / "examples").glob("*.yaml") if not file.name.startswith("mxu-"))
FILES = [*EXAMPLES, *sorted((ROOT / "guests" / "rtos").glob("*/system.yaml"))]
HERE = Path()


def loaded(file: Path, *overrides: str, unprotected: bool = False) -> tuple[System, Platform]:
    found = load_system(file, overrides, unprotected=unprotected)
    assert found.system is not None and found.platform is not None, found.problems
    return found.system, found.platform


def read_again(text: str) -> System:
    source = parse_text(text, Source("resolved"))
    assert source.root is not None, source.problems
    system, _, problems = validate(source.root, System, "resolved")
    assert system is not None, (problems, text)
    return system


def keys_of(text: str) -> str:
    """The file without the comments, which give reasons for what was open."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))


def manifests(plan: Plan) -> list[bytes]:
    """The manifest without images, for a board and for the emulator."""
    starts = [domain.segments[0].ipa for domain in plan.domains]
    images = [LoadedMemory((), start, start, b"") for start in starts]
    pieces: list[list[PlacedPiece]] = [[] for _ in starts]
    events = [counted_event(plan.platform, emulated=emulated) for emulated in (False, True)]
    return [pack_manifest(plan, images, pieces, load_layout(), event=event) for event in events]


def same_plan(one: Plan, other: Plan) -> bool:
    def result(plan: Plan) -> tuple[Any, ...]:
        tables = None if plan.tables is None else (plan.tables.on_chip_pa, plan.tables.colored)
        regions = None if plan.tables is None else plan.tables.plan.regions
        flows = [(one.cpu, one.rate, one.register) for one in plan.brokers]
        return plan.pool, plan.domains, plan.load_area, plan.mpam, tables, regions, flows

    return result(one) == result(other)


def open_again(system: System) -> System:
    """The system without what the planner decides."""

    def part(share: Any) -> Any:
        if not isinstance(share, Colored):
            return share
        amounts = {**dict.fromkeys(share.one_of), **({"shared": False} if hasattr(share, "shared") else {})}
        return share.model_copy(update=amounts)

    def holder(one: Any, **more: object) -> Any:
        return one.model_copy(update={"llc": part(one.llc), "banks": part(one.banks), **more})

    def bandwidth(of: Any) -> Any:
        reserved = of.max is not None and of.budget is not None
        return of.model_copy(update={"max": None, "hard": False}) if reserved else of

    def pool(of: Any) -> Any:
        return None if of is None else of.model_copy(update={"size": None})

    def open_broker(one: Any) -> Any:
        return holder(one, cpu=None, rate=None, llc=None)

    domains = tuple(
        holder(
            one,
            maintenance="auto",
            bandwidth=bandwidth(one.bandwidth),
            socket_pool=pool(one.socket_pool),
        )
        for one in system.domains
        if one.name not in names_of(system)
    )
    tables = system.hypervisor.tables.model_copy(update={"colors": None})
    broker = system.broker
    return system.model_copy(
        update={
            "hypervisor": holder(system.hypervisor, memory=None, tables=tables),
            "isolation": system.isolation.model_copy(update={"llc": "auto"}),
            "domains": domains,
            "broker": None if broker is None else open_broker(broker),
            "brokers": {name: open_broker(one) for name, one in system.brokers.items()},
        }
    )


@pytest.mark.req("C2")
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
@pytest.mark.parametrize("unprotected", [False, True], ids=["protected", "unprotected"])
def test_a_resolved_file_is_the_same_system_and_plans_to_the_same(
    tmp_path: Path, file: Path, unprotected: bool
) -> None:
    system, platform = loaded(file, unprotected=unprotected)
    plan = plan_memory(system, platform)
    text = resolved_text(plan, beside=file.parent, target=file.parent)
    assert open_again(read_again(text)) == open_again(system)
    again = tmp_path / "resolved.yaml"
    again.write_text(resolved_text(plan, beside=file.parent, target=tmp_path))
    system_again, platform_again = loaded(again)
    assert platform_again == platform
    plan_again = plan_memory(system_again, platform_again)
    assert same_plan(plan_again, plan)
    assert manifests(plan_again) == manifests(plan)
    assert {choice.key for choice in plan_again.choices} <= {choice.key for choice in plan.choices}
    text_again = resolved_text(plan_again, beside=tmp_path, target=tmp_path)
    assert keys_of(text_again) == keys_of(again.read_text())


@pytest.mark.req("C2")
@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("flows", ["hypervisor={}", "domains.linux.llc=auto"]),
        ("flows-many", ["hypervisor={}"]),
        (
            "flows",
            ["hypervisor={}", "broker.cpu=auto", "domains.linux.llc.colors=[5, 6]"],
        ),
    ],
)
def test_colors_that_the_planner_chose_for_the_broker_stay_its_own(name: str, overrides: list[str]) -> None:
    system, platform = loaded(ROOT / "examples" / f"{name}.yaml", *overrides)
    plan = plan_memory(system, platform)
    assert plan.pool.colors is not None and plan.domains[-1].name == BROKER
    assert plan.domains[-1].colors is not None and not plan.pool.colors & plan.domains[-1].colors
    again = with_broker(read_again(resolved_text(plan, beside=HERE, target=HERE)), platform)
    assert same_plan(plan_memory(again, platform), plan)


def test_portions_that_the_planner_chose_stay(tmp_path: Path) -> None:
    checked = planned(
        tmp_path,
        control={"llc": {"share": "25 %", "max": "50 %", "soft": True}},
        other={"llc": {"colors": [2]}},
    )
    assert checked.plan is not None, checked.problems
    again = read_again(resolved_text(checked.plan, beside=tmp_path, target=tmp_path))
    assert again.domains[0].llc.portions is not None and again.domains[0].llc.share is None
    assert (again.domains[0].llc.max, again.domains[0].llc.soft) == (Fraction(1, 2), True)
    assert again.domains[1].llc.shared and again.domains[1].llc.colors is None
    assert plan_memory(again, checked.plan.platform).mpam == checked.plan.mpam


@pytest.fixture(scope="module")
def any_plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """A plan whose domain has no name that a system of the test has: its system is replaced."""
    checked = planned(tmp_path_factory.mktemp("board"))
    assert checked.plan is not None, checked.problems
    return checked.plan


FORMS = forms_of(System)


@pytest.mark.parametrize("key", FORMS)
def test_every_key_of_the_schema_survives(any_plan: Plan, key: str) -> None:
    for form in FORMS[key]:
        system = System.model_validate(form)
        plan = replace(any_plan, system=system)
        text = resolved_text(plan, beside=HERE, target=HERE)
        assert read_again(text) == resolved_system(plan)
        assert open_again(read_again(text)) == open_again(system)
        written = FileForm(HERE, HERE).keys(system)
        assert validated(written) == system and FileForm(HERE, HERE).keys(validated(written)) == written


def validated(keys: dict[str, Any]) -> System:
    return System.model_validate(keys)


def test_every_key_of_the_schema_is_covered() -> None:
    """Keys that resolved files have lacked."""
    lacking = [
        *("domains[].pmu", "domains[].socket", "domains[].faults", "domains[].firmware[].first"),
        *("domains[].memory[].flash", "domains[].memory[].programmable", "domains[].image.raw"),
        *("domains[].image.at", "domains[].image.entry", "domains[].image.files[].file"),
        *("domains[].image.device_tree_at", "expect.*.line", "expect.*.within", "expect.*.no_line"),
        *("run.icount", "run.for", "run.for_on_machine", "broker.wait", "broker.stamps"),
    ]
    assert set(lacking) <= set(FORMS)


def test_a_key_that_is_not_written_is_found(any_plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of every key can fail."""
    keys = FileForm.keys

    def without_pmu(form: FileForm, model: Any) -> dict[str, Any]:
        found = keys(form, model)
        found["domains"] = [{k: v for k, v in one.items() if k != "pmu"} for one in found["domains"]]
        return found

    monkeypatch.setattr(FileForm, "keys", without_pmu)
    with pytest.raises(AssertionError):
        test_every_key_of_the_schema_survives(any_plan, "domains[].pmu")


@pytest.mark.parametrize(
    ("key", "value", "moved"),
    [
        ("elf", "programs/a.elf", "../system/programs/a.elf"),
        ("elf", "a.elf", "../system/a.elf"),
        ("elf", "../a.elf", "../a.elf"),
        ("elf", "./a.elf", "../system/a.elf"),
        ("elf", "/opt/a.elf", "/opt/a.elf"),
        ("elf", "guests/periodic.elf", "guests/periodic.elf"),
        ("elf", "guests/own.elf", "../system/guests/own.elf"),
        ("kernel", "linux:debian", "linux:debian"),
        ("kernel", "./Image", "../system/Image"),
        ("kernel", "../resolved/Image", "./Image"),
    ],
)
def test_references_lead_to_the_same_file(
    any_plan: Plan, tmp_path: Path, key: str, value: str, moved: str
) -> None:
    """`guests/...` is a program of the tool, except where the user has such a file."""
    for name in ("system/guests", "resolved"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "system" / "guests" / "own.elf").touch()
    domain = DOMAINS[0] | {"cpus": (0,), "image": {key: value}, "memory": ({"at": 0, "size": 4096},)}
    system = validated({"bulkhead": 1, "name": "any", "platform": "zcu102", "domains": (domain,)})
    plan = replace(any_plan, system=system)
    text = resolved_text(plan, beside=tmp_path / "system", target=tmp_path / "resolved")
    assert getattr(read_again(text).domains[0].image, key) == moved


def test_every_reference_is_moved_and_no_name(any_plan: Plan, tmp_path: Path) -> None:
    for name in ("system", "resolved"):
        (tmp_path / name).mkdir()
    image = {"kernel": "./k", "initrd": "./i", "device_tree": "tree", "files": ({"file": "f", "at": 0},)}
    flash = tuple({"at": 0, "size": 4096, "flash": name} for name in ("bytes", "erased", *FIRMWARE))
    domains = (
        DOMAINS[0] | {"cpus": (0,), "image": image, "memory": flash},
        DOMAINS[1] | {"cpus": (1,), "image": {"raw": "r", "at": 0}, "memory": flash[:1]},
    )
    system = validated({"bulkhead": 1, "name": "any", "platform": "board.yaml", "domains": domains})
    plan = replace(any_plan, system=system)
    again = read_again(resolved_text(plan, beside=tmp_path / "system", target=tmp_path / "resolved"))
    made, up = again.domains[0], "../system"
    assert again.platform == f"{up}/board.yaml"
    assert (made.image.kernel, made.image.initrd) == (f"{up}/k", f"{up}/i")
    assert (made.image.device_tree, made.image.files[0].file) == (f"{up}/tree", f"{up}/f")
    assert [region.flash for region in made.memory] == [f"{up}/bytes", "erased", *FIRMWARE]
    assert again.domains[1].image.raw == f"{up}/r"


def test_firmware_that_a_file_can_name_is_what_the_tool_fetches() -> None:
    assert tuple(f"{name}:debian" for name in NAMES) == FIRMWARE


UNITS = [BYTE_UNITS, RATE_UNITS, TIME_UNITS]


@given(st.integers(1, 10**13), st.sampled_from(UNITS))
def test_a_quantity_is_read_as_it_was_written(amount: int, units: dict[str, int]) -> None:
    assert parse(amount_text(amount, units), units, "", bare=False) == amount


@given(st.integers(1, 10**20), st.integers(0, 20))
def test_a_share_is_read_as_it_was_written(amount: int, decimals: int) -> None:
    share = Fraction(amount, 10**decimals)
    assert parse(amount_text(share, SHARE_UNITS), SHARE_UNITS, "", bare=False) == share


PRINTABLE = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=160)
TEXT = st.one_of(PRINTABLE, st.text("0123456789abefox.:-+_ ~#&*!|>'\"%@`{}[],?\\", min_size=1))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    TEXT.filter(lambda text: text.isprintable() and bool(text.strip())),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=400),
    st.decimals(1, 1000, places=9),
    st.integers(1, 3600 * 10**9),
)
def test_texts_and_numbers_are_read_as_they_were_written(
    line: str, cmdline: str, slowdown: Decimal, ready: int
) -> None:
    expect = {"control": {"line": line, "no_line": line, "slowdown": slowdown, "ready": f"{ready} ns"}}
    image = {"kernel": "linux:debian", "cmdline": cmdline}
    domain = DOMAINS[0] | {"cpus": (0,), "image": image, "memory": ({"at": 0, "size": 4096},)}
    made = {"bulkhead": 1, "name": "any", "platform": "zcu102", "domains": (domain,), "expect": expect}
    system = validated(made)
    assert read_again(file_text(FileForm(HERE, HERE).keys(system))) == system


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(COMPONENTS, AMOUNT, st.lists(DOMAIN, min_size=1, max_size=3))
def test_m7_any_system_that_has_a_plan_is_planned_the_same_again(
    components: dict[str, Any], own: dict[str, Any], wanted: list[dict[str, Any]]
) -> None:
    platform, system = described(components), asked_for(own, wanted)
    if system is None:
        return
    try:
        plan = plan_memory(system, platform)
    except PlanningError:
        return
    text = resolved_text(plan, beside=HERE, target=HERE)
    plan_again = plan_memory(read_again(text), platform)
    assert same_plan(plan_again, plan)
    assert keys_of(resolved_text(plan_again, beside=HERE, target=HERE)) == keys_of(text)
