# SPDX-License-Identifier: Apache-2.0
"""Memory bandwidth of devices in admission (D5): which rate counts for a device, and what files and reports
say of it. Refusals are in examples/bad/device-rate-*.yaml."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bulkhead.admission.load import Loaded, load_system
from bulkhead.check.files import check_file
from bulkhead.config.pci import PciHost
from bulkhead.config.problem import Problem
from bulkhead.config.timing import Regulator
from bulkhead.planning.demands import admission_of
from bulkhead.planning.device_rates import RateRegister
from bulkhead.planning.flows import EngineRegister
from bulkhead.planning.qos400 import step_of
from bulkhead.planning.regulation import bandwidth_threshold, saturation_of
from bulkhead.planning.resolve import resolved_text

from ..command_line import invoked, run_json
from ..platforms import platform

BAD = Path(__file__).parents[2] / "examples" / "bad"
MB = 10**6


def system(
    directory: Path, devices: list[str], rates: dict[str, str] | None = None, budget: str | None = "64 MB/s"
) -> Path:
    """A domain with devices of the platform of examples/bad, beside a real-time one."""
    plain = {"image": {"elf": "guests/hello.elf"}, "memory": [{"at": 0x4000_0000, "size": "16 MiB"}]}
    owner: dict[str, Any] = {"name": "owner", "cpus": [0], **plain, "devices": devices, "dma": "trusted"}
    owner["device_rates"] = rates or {}
    control: dict[str, Any] = {"name": "control", "criticality": "rt", "cpus": [1], **plain}
    if budget is not None:
        control["bandwidth"] = {"budget": budget, "period": "1 ms"}
    path = directory / "system.yaml"
    board = str(BAD / "platforms" / "rated-devices.yaml")
    keys = {"bulkhead": 1, "name": "rated", "platform": board, "isolation": {"llc": "none"}}
    path.write_text(json.dumps({**keys, "domains": [owner, control]}))
    return path


def is_about_rates(notice: Problem) -> bool:
    return "device" in notice.key and notice.code != "not-reset"


def about_devices(loaded: Loaded) -> list[tuple[str, str]]:
    return [(one.key, one.code) for one in loaded.notices if is_about_rates(one)]


@pytest.mark.req("D5", "F3")
@pytest.mark.parametrize(
    ("device", "declared", "charged", "note", "notices"),
    [
        ("nic", None, 250, "charged in full", []),
        ("nic", "250 MB/s", 250, "charged in full", []),
        ("nic", "100 MB/s", 250, "charged in full", [("domains[0].device_rates.nic", "not-enforced")]),
        ("camera", "80 MB/s", 80, "as declared", [("domains[0].device_rates.camera", "not-enforced")]),
        ("camera", None, None, "no rate is known", [("domains[0].devices", "unbounded")]),
    ],
)
def test_a_device_is_charged_with_what_nothing_keeps_it_below(
    tmp_path: Path,
    device: str,
    declared: str | None,
    charged: int | None,
    note: str,
    notices: list[tuple[str, str]],
) -> None:
    path = system(tmp_path, [device, "gpio"], {device: declared} if declared else None)
    loaded = load_system(path)
    assert loaded.system is not None and loaded.platform is not None, loaded.problems
    found = admission_of(loaded.system, loaded.platform)
    (one,) = found.devices
    assert (one.device, one.charged) == (device, None if charged is None else charged * MB)
    assert note in one.note
    assert found.bounded == (64 + (charged or 0)) * MB
    assert about_devices(loaded) == notices
    assert about_devices(load_system(path, emulated=True)) == [], "an emulator has no bandwidth"


@pytest.mark.req("D5", "F3")
def test_budgets_and_devices_together_are_at_most_what_is_guaranteed(tmp_path: Path) -> None:
    assert load_system(system(tmp_path, ["disk"], budget="60 MB/s")).ok
    more = load_system(system(tmp_path, ["disk"], budget="61 MB/s"))
    assert [one.code for one in more.problems] == ["overcommit"]
    assert load_system(tmp_path / "system.yaml", ["regulation={overcommit: true}"]).ok


@pytest.mark.req("D5")
def test_without_a_budget_nothing_is_promised_and_nothing_compared(tmp_path: Path) -> None:
    loaded = load_system(system(tmp_path, ["disk", "nic", "camera"], budget=None))
    assert loaded.ok, loaded.problems
    assert about_devices(loaded) == []
    declared = load_system(system(tmp_path, ["camera"], {"camera": "80 MB/s"}, budget=None))
    (notice,) = [one for one in declared.notices if is_about_rates(one)]
    assert "nothing limits 'camera' to 80 MB/s" in notice.cause
    assert "budgets" not in notice.cause


@pytest.mark.req("D5", "B6")
def test_a_threshold_of_bandwidth_that_no_file_states_leaves_devices_their_part(tmp_path: Path) -> None:
    loaded = load_system(system(tmp_path, ["nic"]), ["regulation={policy: dynamic-bandwidth}"])
    assert loaded.system is not None and loaded.platform is not None
    assert bandwidth_threshold(loaded.system, loaded.platform) == (960 - 250) * MB
    stated = load_system(
        tmp_path / "system.yaml", ["regulation={policy: dynamic-bandwidth, threshold: 500 MB/s}"]
    )
    assert stated.system is not None and stated.platform is not None
    assert bandwidth_threshold(stated.system, stated.platform) == 500 * MB


@pytest.mark.req("D5")
def test_a_minimum_is_what_others_and_their_devices_leave(tmp_path: Path) -> None:
    """Of 960 MB/s the budget of `owner` leaves 900, and its card 650."""
    path = system(tmp_path, ["nic"], budget=None)
    of_owner = "domains.owner.bandwidth={budget: 60 MB/s, period: 1 ms}"
    fits, too_much = (f"domains.control.bandwidth={{min: {share} %}}" for share in (67, 68))
    assert load_system(path, [of_owner, fits]).ok
    (problem,) = load_system(path, [of_owner, too_much]).problems
    assert "the limits of other domains and their devices leave 650" in problem.cause


@pytest.mark.req("D5", "B7")
def test_what_a_regulator_may_give_is_less_by_what_devices_take(tmp_path: Path) -> None:
    path = system(tmp_path, ["nic"])
    loaded = load_system(path, ["regulation={policy: dynamic-turns, saturation: 800 MB/s}"])
    assert loaded.system is not None and loaded.platform is not None, loaded.problems
    assert saturation_of(loaded.system, loaded.platform) == 550 * MB


@pytest.mark.req("D5")
def test_check_and_plan_show_each_device_and_that_nothing_limits_it(tmp_path: Path) -> None:
    path = system(tmp_path, ["nic", "camera"], {"camera": "80 MB/s"})
    for command in ("check", "plan"):
        done = invoked(command, path)
        assert done.exit_code == 0, done.stderr
        assert "unregulated: charged in full" in done.stdout
        assert "unregulated: charged as declared" in done.stdout
    expected = [
        {
            "name": "nic",
            "charged_bytes_per_s": 250 * MB,
            "declared_bytes_per_s": None,
            "most_bytes_per_s": 250 * MB,
            "regulated": False,
            "dynamic": False,
        },
        {
            "name": "camera",
            "charged_bytes_per_s": 80 * MB,
            "declared_bytes_per_s": 80 * MB,
            "most_bytes_per_s": None,
            "regulated": False,
            "dynamic": False,
        },
    ]
    _, result = run_json("check", path)
    promised = result["files"][0]["promised"]
    assert promised["bandwidth"]["bounded_bytes_per_s"] == (64 + 250 + 80) * MB
    for domains in (promised["domains"], run_json("plan", path)[1]["domains"]):
        assert [one["device_rates"] for one in domains] == [expected, []]


@pytest.mark.req("D5")
def test_the_engine_of_a_broker_is_shown_with_its_regulator() -> None:
    done = invoked("check", BAD.parent / "budget-refused.yaml")
    assert "adma" in done.stdout and "regulated by QoS-400" in done.stdout


def test_a_declared_rate_survives_a_resolved_file(tmp_path: Path) -> None:
    checked = check_file(str(system(tmp_path, ["camera"], {"camera": "80 MB/s"})))
    assert checked.plan is not None
    resolved = tmp_path / "resolved.yaml"
    resolved.write_text(resolved_text(checked.plan, beside=tmp_path, target=tmp_path))
    again = check_file(str(resolved))
    assert again.plan is not None, again.problems
    assert again.plan.system.domains[0].device_rates == {"camera": 80 * MB}


def test_a_pci_function_has_the_rate_of_its_entry() -> None:
    host = platform("qemu-virt-smmu").pci
    assert host is not None
    functions = (host.functions[0].model_copy(update={"rate": 500 * MB}), *host.functions[1:])
    rated: PciHost = host.model_copy(update={"functions": functions})
    assert [one.rate for one in rated.devices()][:2] == [500 * MB, None]


def test_a_clock_that_divides_no_second_is_charged_rounded_up() -> None:
    """A regulator with a clock of 3 ns: a unit is 10416666 and two thirds bytes/s."""
    keys = {"master": "dma", "clock": "3 ns", "transaction": 128, "source": "-"}
    step = step_of(Regulator.model_validate(keys))
    assert step == Fraction(128 * 10**9, 3 * 4096)
    assert [RateRegister(0, value, step).bytes_per_s for value in (1, 3)] == [20_833_334, 62_500_000]
    assert [EngineRegister(value, step).charged for value in (1, 3)] == [10_416_667, 31_250_000]
