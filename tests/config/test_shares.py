# SPDX-License-Identifier: Apache-2.0
"""M7, M1: shares of a system file become MPAM's controls, or an error with the nearest possible value."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bulkhead.admission.load import load_system
from bulkhead.check.files import Checked, plan_file
from bulkhead.planning.mechanism import choices
from bulkhead.planning.model import Plan
from bulkhead.planning.mpam import MpamPlan, Settings
from bulkhead.planning.resolve import resolved_text
from bulkhead.planning.shares import rows_of
from tests.command_line import run, run_json
from tests.config.mpam_board import mpam, planned, platform_file, refusals, system_file


def plan_of(checked: Checked) -> tuple[Plan, MpamPlan]:
    assert checked.plan is not None, "\n".join(problem.text() for problem in checked.problems)
    assert checked.plan.mpam is not None
    return checked.plan, checked.plan.mpam


def settings_of(checked: Checked, owner: str, component: str, ris: int = 0) -> list[Settings]:
    """Settings of each PARTID of an owner."""
    _, found = plan_of(checked)
    partition = found.partition(owner)
    assert partition is not None
    partids = range(partition.partid, partition.partid + partition.count)
    return [
        one.settings
        for partid in partids
        for one in found.settings
        if (one.component, one.ris, one.partid) == (component, ris, partid)
    ]


def portions(checked: Checked, owner: str, component: str = "llc", ris: int = 0) -> int:
    bitmap = settings_of(checked, owner, component, ris)[0].cache_portions
    assert bitmap is not None
    return bitmap


def test_m7_shares_and_sizes_become_portions_of_ones_own(tmp_path: Path) -> None:
    checked = planned(
        tmp_path, control={"llc": {"share": "25 %"}}, other={"llc": {"size": "200 KiB"}}, hog={"llc": "auto"}
    )
    plan, _ = plan_of(checked)
    assert portions(checked, "control") == 0x000F
    assert portions(checked, "other") == 0x00F0, "200 KiB are 3.1 portions of 64 KiB"
    assert portions(checked, "hog") == 0x7F00
    assert portions(checked, "hypervisor") == 0x8000
    assert plan.space.bits == 0, "no memory is colored"
    reasons = {choice.key: choice for choice in plan.choices}
    assert reasons["isolation.llc"].value == "mpam"
    assert "4 of 16 portions" in reasons["domains.other.llc.portions"].reason


def test_m7_colors_are_portions_of_the_same_share(tmp_path: Path) -> None:
    """The ZCU102 has 16 colors and the board 16 portions, then 32."""
    keys: dict[str, Any] = {
        "hypervisor": {"llc": {"colors": [7]}},
        "control": {"llc": {"colors": [0, 1, 2]}},
        "other": {"llc": {"colors": [3]}},
        "hog": {"llc": {"colors": [4, 5, 6]}},
    }

    def twice(_section: Any, llc: Any, _memory: Any) -> None:
        llc["portions"], llc["portions_are"] = 32, "sets"

    colored = plan_file(str(system_file(tmp_path, "zcu102", **keys))).plan
    assert colored is not None
    count = 1 << len(colored.space.llc_bits)
    for change, each in ((None, 16 // count), (twice, 32 // count)):
        checked = planned(tmp_path, change, **keys)
        assert portions(checked, "control") == (1 << 3 * each) - 1
        assert portions(checked, "hypervisor") == (1 << each) - 1 << 7 * each


def test_m7_colors_that_are_no_whole_portions_are_rounded_up(tmp_path: Path) -> None:
    def few(_section: Any, llc: Any, _memory: Any) -> None:
        llc["portions"] = 4

    checked = planned(tmp_path, few, control={"llc": {"colors": [0]}})
    assert portions(checked, "control").bit_count() == 1, "half of one"


def test_m7_exact_portions_are_kept_and_shared_only_where_both_say_so(tmp_path: Path) -> None:
    checked = planned(tmp_path, control={"llc": {"portions": 0xF0F0}}, other={"llc": {"portions": 0x0F00}})
    assert portions(checked, "control") == 0xF0F0
    assert portions(checked, "other") == 0x0F00
    assert portions(checked, "hog") == 0x0007
    one = {"portions": 0xF0, "shared": True}
    refused = planned(tmp_path, control={"llc": one}, other={"llc": {"portions": 0x30}})
    key, code, allowed = refusals(refused)[0]
    assert (key, code) == ("domains[1].llc.portions", "portion-overlap")
    assert "shared: true" in allowed
    both = planned(tmp_path, control={"llc": one}, other={"llc": {"portions": 0x30, "shared": True}})
    assert portions(both, "control") & portions(both, "other") == 0x30
    assert portions(both, "hog") & 0xF0 == 0


def test_m7_nobody_has_portions_of_a_real_time_domain_the_hypervisor_included(tmp_path: Path) -> None:
    checked = planned(tmp_path)
    bitmaps = [portions(checked, one) for one in ("hypervisor", "control", "other", "hog")]
    assert sum(bitmaps) == 0xFFFF
    assert sum(bitmap.bit_count() for bitmap in bitmaps) == 16
    assert all(bin(bitmap).strip("0b").count("0") == 0 for bitmap in bitmaps), "each one run"


def test_m7_the_broker_has_a_partid_and_portions_of_its_own(tmp_path: Path) -> None:
    flow = {"name": "f", "from": "other", "to": "control", "port": 1}
    flow |= {"size": "256 B", "period": "20 ms", "deadline": "10 ms"}
    checked = planned(
        tmp_path,
        hypervisor={"llc": {"colors": [7]}},
        hog={"cpus": [2]},
        broker={"cpu": 3},
        flows=[flow],
        regulation={"overcommit": True},
    )
    _, found = plan_of(checked)
    owners = {one.owner: one.partid for one in found.partitions}
    assert owners == {"hypervisor": 1, "broker": 2, "control": 3, "other": 4, "hog": 5}
    assert portions(checked, "hypervisor") == 0xC000
    assert portions(checked, "broker") & 0xC000 == 0, "with coloring it would have the hypervisor's color"


def test_m7_bandwidth_and_priority_go_to_the_memorys_component(tmp_path: Path) -> None:
    bandwidth = {"min": "20 %", "max": "50 %", "hard": True, "priority": 1}
    checked = planned(tmp_path, control={"bandwidth": bandwidth})
    found = settings_of(checked, "control", "ram")[0]
    assert (found.mbw_min, found.mbw_max, found.mbw_max_hard) == (Fraction(1, 5), Fraction(1, 2), True)
    assert found.internal_priority == 6, "of 0 to 7; the file counts from the most urgent one"
    assert found.downstream_priority is None
    rows = {(row.owner, row.resource): row for row in rows_of(plan_of(checked)[0])}
    row = rows["control", "ram"]
    assert row.control == "MBW_MIN; MBW_MAX; PRI"
    assert row.got == "20.3125 %; 50 % hard; 6 (7 is served first)", "a guarantee is rounded up"
    assert ("other", "ram") not in rows


def test_m7_other_controls_are_for_experiments(tmp_path: Path) -> None:
    llc = {"portions": 0xF0, "max": "50 %", "soft": True, "min": "10 %"}
    bandwidth = {"portions": 0xFF, "stride": 4, "window": "10 us"}
    checked = planned(tmp_path, control={"llc": llc, "bandwidth": bandwidth})
    cache = settings_of(checked, "control", "llc")[0]
    assert (cache.cmax, cache.cmax_soft, cache.cmin) == (Fraction(1, 2), True, Fraction(1, 10))
    memory = settings_of(checked, "control", "ram")[0]
    assert (memory.bandwidth_portions, memory.stride, memory.window_us) == (0xFF, 4, 10)


def test_m7_every_instance_of_a_cache_in_slices_is_divided_by_what_it_has(tmp_path: Path) -> None:
    """A known pitfall: components with several resource instances."""

    def slices(section: Any, llc: Any, _memory: Any) -> None:
        section["components"][0]["resources"] = [llc, {"cache": "l2", "portions": 8}]

    checked = planned(tmp_path, slices, control={"llc": {"share": "25 %"}})
    assert portions(checked, "control", ris=0) == 0xF
    assert portions(checked, "control", ris=1) == 0x3
    _, found = plan_of(checked)
    partids = [one.partid for one in found.partitions]
    for key in (("llc", 0), ("llc", 1), ("ram", 0)):
        assert [one.partid for one in found.settings if (one.component, one.ris) == key] == partids


def test_m7_a_cache_without_portions_is_divided_by_limits(tmp_path: Path) -> None:
    def no_portions(_section: Any, llc: Any, _memory: Any) -> None:
        del llc["portions"]

    checked = planned(tmp_path, no_portions, control={"llc": {"share": "30 %"}})
    limits = {
        one: settings_of(checked, one, "llc")[0].cmax or 0
        for one in ("hypervisor", "control", "other", "hog")
    }
    assert limits["control"] == Fraction(76, 256), "76.8 of 256 steps, and a limit is never exceeded"
    assert sum(limits.values()) == 1
    refused = planned(tmp_path, no_portions, control={"llc": {"portions": 0xF}})
    assert refusals(refused) == [("domains[0].llc.portions", "not-on-platform", "share, size, max")]
    tiny = planned(tmp_path, no_portions, control={"llc": {"share": "0.3 %"}})
    assert refusals(tiny) == [("domains[0].llc", "share-too-small", "at least 0.390625 %")]


def test_m2_a_range_of_virtual_partids_keeps_the_domains_limits_together(tmp_path: Path) -> None:
    bandwidth = {"min": "10 %", "max": "50 %"}
    checked = planned(tmp_path, control={"virtual_partids": 4, "bandwidth": bandwidth})
    _, found = plan_of(checked)
    assert [(one.owner, one.partid, one.count) for one in found.partitions] == [
        ("hypervisor", 1, 1),
        ("control", 3, 4),
        ("other", 7, 1),
        ("hog", 8, 1),
    ]
    each = settings_of(checked, "control", "ram")
    assert len(each) == 4
    assert {(one.mbw_min, one.mbw_max) for one in each} == {(Fraction(1, 10), Fraction(1, 8))}
    assert len({one.cache_portions for one in settings_of(checked, "control", "llc")}) == 1


def test_m2_a_guest_has_no_more_by_using_all_its_virtual_partids_at_once(tmp_path: Path) -> None:
    """Each PARTID gets its part of the share by order and of the ways of a set."""

    def associative(section: Any, llc: Any, _memory: Any) -> None:
        llc["associativity"] = {"bits": 6}

    asked = {"llc": {"share": "25 %", "associativity": "50 %"}, "bandwidth": {"stride": 3}}
    checked = planned(tmp_path, associative, control={"virtual_partids": 4, **asked})
    assert {one.associativity for one in settings_of(checked, "control", "llc")} == {Fraction(1, 8)}
    assert {one.stride for one in settings_of(checked, "control", "ram")} == {12}
    for key, value, code, allowed in (
        ("bandwidth", {"stride": 65}, "out-of-range", "1 to 64"),
        ("llc", {"associativity": "3 %"}, "share-too-small", "at least 6.25 %"),
    ):
        found = refusals(planned(tmp_path, associative, control={"virtual_partids": 4, key: value}))
        assert [one[1:] for one in found] == [(code, allowed)]


def test_m7_narrowed_partids_are_enough_for_all_or_refused(tmp_path: Path) -> None:
    """A known pitfall: two partitions with one internal PARTID have the same setting."""
    for count, fits in ((6, True), (5, False)):

        def narrow(section: Any, _llc: Any, _memory: Any, count: int = count) -> None:
            section["components"][0]["internal_partids"] = count

        found = refusals(planned(tmp_path, narrow))
        assert found == ([] if fits else [("domains", "limit", "fewer domains, or fewer `virtual_partids`")])


def test_m7_more_partitions_than_partids_are_refused(tmp_path: Path) -> None:
    def few(section: Any, _llc: Any, _memory: Any) -> None:
        section["partids"], section["virtual_partids"] = 8, 4

    assert refusals(planned(tmp_path, few)) == []
    assert refusals(planned(tmp_path, few, hog={"virtual_partids": 4}))[0][1] == "limit"


def more_components(count: int) -> list[dict[str, Any]]:
    def one(number: int) -> dict[str, Any]:
        resource = {"memory": "dram", "bandwidth": {"bits": 8, "max": True}}
        at = 0xFC020000 + (number << 16)
        return {"name": f"more{number}", "at": at, "version": "1.1", "resources": [resource]}

    return [one(number) for number in range(count)]


def old_monitor(section: Any, **keys: Any) -> None:
    second(section).update(version="1.0")
    second(section)["resources"][0]["bandwidth_monitors"] = {"count": 4, **keys}


def copies(resource: Any, count: int) -> list[Any]:
    return [copy.deepcopy(resource) for _ in range(count)]


def test_m7_what_the_hypervisor_has_room_for_is_no_finding(tmp_path: Path) -> None:
    def full(section: Any, _llc: Any, memory: Any) -> None:
        section["components"].extend(more_components(2))
        section["components"][1]["resources"] = copies(memory, 13)
        section["partids"] = 1024
        first(section).update(not_ready="1000 ms", error_interrupt=287, overflow_interrupt=120)

    assert refusals(planned(tmp_path, full)) == []


def test_m7_more_settings_than_a_manifest_has_room_for_are_refused(tmp_path: Path) -> None:
    """The limit is 256 rows; 17 PARTIDs with bandwidth of 14 instances, and a row of the cache for each of
    19, need more."""

    def wide(section: Any, _llc: Any, memory: Any) -> None:
        section["virtual_partids"] = 16
        section["components"][1]["resources"] = copies(memory, 14)

    def half(**keys: Any) -> dict[str, Any]:
        return {"bandwidth": {"max": "50 %"}, **keys}

    assert refusals(planned(tmp_path, wide, hog=half(virtual_partids=12))) == []
    found = planned(tmp_path, wide, other=half(), hog=half(virtual_partids=16))
    assert [(key, code) for key, code, _ in refusals(found)] == [("domains", "limit")]
    assert "257 settings of PARTIDs" in found.problems[0].cause


def test_m7_more_words_of_bitmaps_than_a_manifest_has_room_for_are_refused(tmp_path: Path) -> None:
    def wide(section: Any, llc: Any, _memory: Any) -> None:
        section["virtual_partids"] = 16
        llc |= {"portions": 1024, "portions_are": "sets"}

    assert refusals(planned(tmp_path, wide, hog={"virtual_partids": 12})) == []
    found = planned(tmp_path, wide, hog={"virtual_partids": 16})
    assert [(key, code) for key, code, _ in refusals(found)] == [("domains", "limit")]
    assert "words of portion bitmaps" in found.problems[0].cause


def first(section: Any) -> Any:
    return section["components"][0]


def second(section: Any) -> Any:
    return section["components"][1]


def without(*keys: str) -> Any:
    """The memory's component without some controls."""

    def change(_section: Any, llc: Any, memory: Any) -> None:
        for key in keys:
            if key in memory["bandwidth"]:
                del memory["bandwidth"][key]
            elif key in memory:
                del memory[key]
            else:
                del llc[key]

    return change


@pytest.mark.parametrize(
    ("change", "control", "key", "code", "allowed"),
    [
        (without("max"), {"bandwidth": {"max": "50 %"}}, "bandwidth.max", "not-on-platform", "min, portions"),
        (without("min"), {"bandwidth": {"min": "50 %"}}, "bandwidth.min", "not-on-platform", "max, hard"),
        (without("priority"), {"bandwidth": {"priority": 1}}, "bandwidth.priority", "not-on-platform", "min"),
        (without("capacity"), {"llc": {"max": "50 %"}}, "llc.max", "not-on-platform", "portions"),
        (None, {"llc": {"associativity": "50 %"}}, "llc.associativity", "not-on-platform", "portions, max"),
        (None, {"bandwidth": {"max": "0.3 %"}}, "bandwidth.max", "share-too-small", "at least 0.390625 %"),
        (None, {"bandwidth": {"min": "100 %"}}, "bandwidth.min", "share-too-large", "at most 99.609375 %"),
        (None, {"bandwidth": {"priority": 8}}, "bandwidth.priority", "out-of-range", "0 to 7"),
        (None, {"bandwidth": {"stride": 257}}, "bandwidth.stride", "out-of-range", "1 to 256"),
        (None, {"bandwidth": {"portions": 1 << 32}}, "bandwidth.portions", "out-of-range", "0xFFFFFFFF: 32"),
        (
            None,
            {"bandwidth": {"min": "30 %", "max": "30 %"}},
            "bandwidth.min",
            "conflict",
            "at most 29.6875 %, or a maximum of 30.078125 % or more",
        ),
        (None, {"llc": {"portions": 0x10000}}, "llc.portions", "out-of-range", "0x1 to 0xFFFF: 16 portions"),
        (None, {"llc": {"share": "99 %"}}, "llc", "portions-exhausted", "smaller shares"),
        (None, {"llc": {"size": "2 MiB"}}, "llc.size", "out-of-range", "at most 1 MiB"),
        (None, {"bandwidth": {"max": "5 %", "per": "vcpu"}}, "bandwidth.per", "conflict", "domain"),
        (None, {"virtual_partids": 12}, "virtual_partids", "out-of-range", "0 to 8"),
        (None, {"virtual_partids": 1}, "virtual_partids", "out-of-range", "0, 2 to 32"),
        (None, {"llc": {"portions": 0}}, "llc.portions", "out-of-range", "at least one bit"),
        (None, {"bandwidth": {"portions": 0}}, "bandwidth.portions", "out-of-range", "at least one bit"),
        (None, {"bandwidth": {"min": "0 %"}}, "bandwidth.min", "out-of-range", "more than 0 %"),
        (None, {"bandwidth": {"hard": True, "min": "5 %"}}, "bandwidth", "missing-key", "`max`"),
        (None, {"llc": {"soft": True, "share": "5 %"}}, "llc", "missing-key", "`max`"),
        (None, {"llc": {"shared": True, "share": "5 %"}}, "llc", "missing-key", "`portions`"),
        (None, {"bandwidth": {"min": "5 %", "max": "4 %"}}, "bandwidth", "conflict", "at most `max`"),
        (None, {"bandwidth": {"max": "5 %", "budget": "1 MB/s"}}, "bandwidth", "conflict", "one of"),
        (None, {"llc": {"size": "64 KiB", "share": "5 %"}}, "llc", "conflict", "one of"),
        (None, {"llc": {"share": "5.0000001 %"}}, "llc.share", "out-of-range", "six decimals"),
        (
            None,
            {"bandwidth": {"max": "5 %", "window": "1500 ns"}},
            "bandwidth",
            "out-of-range",
            "whole micro",
        ),
    ],
)
def test_m7_what_cannot_be_had_is_an_error_with_the_nearest_that_can(
    tmp_path: Path, change: Any, control: dict[str, Any], key: str, code: str, allowed: str
) -> None:
    found = refusals(planned(tmp_path, change, control=control))
    first = next(one for one in found if one[0] == f"domains[0].{key}")
    assert first[1] == code
    assert allowed in first[2]


def test_m7_minima_are_a_promise_only_as_far_as_there_is_bandwidth(tmp_path: Path) -> None:
    asked = {one: {"bandwidth": {"min": "33.4 %"}} for one in ("control", "other", "hog")}
    assert refusals(planned(tmp_path, **asked))[0][:2] == ("domains[2].bandwidth.min", "overcommit")
    assert refusals(planned(tmp_path, regulation={"overcommit": True}, **asked)) == []
    # Each is rounded up: five times 52 of 256 steps are more than the whole.
    each = {"bandwidth": {"min": "20 %"}, "virtual_partids": 5}
    assert refusals(planned(tmp_path, control=each))[0][1] == "overcommit"


@pytest.mark.parametrize("word", ["coloring", "none"])
def test_m1_without_mpam_for_the_cache_partitions_are_labels_with_their_bandwidth(
    tmp_path: Path, word: str
) -> None:
    keys = {"isolation": {"llc": word}, "control": {"bandwidth": {"max": "50 %"}}}
    checked = planned(tmp_path, **keys)
    plan, found = plan_of(checked)
    assert (plan.space.bits != 0) == (word == "coloring")
    assert len(found.partitions) == 4
    assert {one.settings for one in found.settings if one.component == "llc"} == {Settings()}
    assert settings_of(checked, "control", "ram")[0].mbw_max == Fraction(1, 2)


def test_m1_color_l1_asks_for_colors(tmp_path: Path) -> None:
    checked = planned(tmp_path, isolation={"color_l1": True})
    assert plan_of(checked)[0].space.bits != 0
    refused = planned(tmp_path, isolation={"color_l1": True, "llc": "mpam"})
    assert refusals(refused)[0][:2] == ("isolation.llc", "conflict")


def test_m7_unprotected_has_labels_and_no_limit(tmp_path: Path) -> None:
    platform_file(tmp_path)
    file = system_file(tmp_path, control={"llc": {"share": "25 %"}, "bandwidth": {"max": "10 %"}})
    _, found = plan_of(plan_file(str(file), unprotected=True))
    assert len(found.partitions) == 4
    assert {one.settings for one in found.settings} == {Settings()}


def test_m3_a_master_that_nobody_labels_is_said(tmp_path: Path) -> None:
    checked = planned(tmp_path, hog={"devices": ["adma"], "dma": "trusted"})
    said = {one.key: one.cause for one in checked.notices if one.code == "unlabelled"}
    assert "'adma'" in said["domains[2].devices"]
    flow = {"name": "f", "from": "other", "to": "control", "port": 1}
    flow |= {"size": "256 B", "period": "20 ms", "deadline": "10 ms"}
    asked = {"hog": {"cpus": [2]}, "broker": {"cpu": 3, "engine": "zdma"}, "flows": [flow]}
    assert "unlabelled" in [one.code for one in planned(tmp_path, **asked).notices]
    colored = plan_file(str(system_file(tmp_path, "zcu102", **asked)))
    assert "unlabelled" not in [one.code for one in colored.notices]


@pytest.mark.parametrize(
    ("platform", "keys", "llc", "bandwidth"),
    [
        (
            "./board.yaml",
            {"hog": {"bandwidth": {"max": "50 %"}}},
            "last-level cache by MPAM: MPAM component llc divides the last-level cache",
            "bandwidth by MPAM: MPAM component ram controls memory bandwidth",
        ),
        (
            "./board.yaml",
            {"isolation": {"llc": "coloring"}},
            "last-level cache by coloring: `isolation.llc` asks for it",
            "bandwidth not divided: no domain asks for a share",
        ),
        (
            "zcu102",
            {"hog": {"bandwidth": {"max": "50 %"}}},
            "last-level cache by coloring: the platform has no MPAM",
            "bandwidth by reservations: the platform has no MPAM",
        ),
    ],
)
def test_m1_the_choice_and_why_is_said_when_a_run_starts(
    tmp_path: Path, platform: str, keys: dict[str, Any], llc: str, bandwidth: str
) -> None:
    platform_file(tmp_path)
    loaded = load_system(system_file(tmp_path, platform, **keys))
    assert loaded.system is not None and loaded.platform is not None, loaded.problems
    assert choices(loaded.system, loaded.platform).lines == (llc, bandwidth)
    assert max(len(llc), len(bandwidth)) <= 80
    off = choices(loaded.system, loaded.platform, unprotected=True)
    assert off.lines[0] == "last-level cache not divided: `--unprotected`"


def test_m7_a_resolved_file_plans_to_the_same(tmp_path: Path) -> None:
    checked = planned(
        tmp_path,
        control={"llc": {"share": "25 %", "max": "50 %"}, "bandwidth": {"min": "12.5 %", "priority": 0}},
        other={"llc": {"size": "100 KiB"}, "bandwidth": {"max": "33.333333 %", "hard": True}},
        hog={"virtual_partids": 4, "bandwidth": {"stride": 3, "portions": 0xFF, "window": "7 us"}},
    )
    plan, found = plan_of(checked)
    again = tmp_path / "again.yaml"
    again.write_text(resolved_text(plan, beside=tmp_path, target=tmp_path))
    assert plan_of(plan_file(str(again)))[1] == found


@pytest.mark.parametrize(
    ("change", "key", "code"),
    [
        (lambda s, _l, _m: first(s).update(at=0xFC001000), "at", "alignment"),
        (lambda s, _l, _m: first(s).update(at=0x100000), "at", "overlap"),
        (lambda s, _l, _m: second(s).update(at=0xFC000000), "at", "overlap"),
        (lambda s, _l, _m: second(s).update(name="llc"), "name", "duplicate-name"),
        (lambda s, _l, _m: first(s).update(version="1.0"), "capacity.soft", "conflict"),
        (lambda s, _l, _m: first(s).update(version="2.0"), "version", "bad-value"),
        (
            lambda s, _l, _m: first(s).update(internal_partids=64),
            "internal_partids",
            "out-of-range",
        ),
        (
            lambda s, _l, _m: first(s).update(error_interrupt=53),
            "error_interrupt",
            "duplicate-name",
        ),
        (lambda _s, llc, _m: llc.update(portions=24), "portions", "geometry"),
        (lambda _s, llc, _m: llc.update(cache="l3"), "cache", "unknown-name"),
        (lambda _s, llc, _m: llc.update(memory="dram"), "resources[0]", "conflict"),
        (lambda _s, _l, memory: memory.update(portions=4), "resources[0]", "conflict"),
        (lambda _s, _l, memory: memory["bandwidth"].pop("bits"), "bandwidth", "missing-key"),
        (lambda s, _l, _m: s.update(virtual_partids=6), "virtual_partids", "bad-value"),
        # Limits of the hypervisor and its manifest.
        (lambda s, _l, _m: s["components"].extend(more_components(3)), "components[4]", "limit"),
        (lambda s, _l, m: second(s).update(resources=copies(m, 16)), "components[1].resources", "limit"),
        (lambda s, _l, _m: s.update(partids=1025), "mpam.partids", "limit"),
        (lambda s, _l, _m: first(s).update(not_ready="1001 ms"), "not_ready", "out-of-range"),
        (lambda s, _l, _m: first(s).update(error_interrupt=31), "error_interrupt", "out-of-range"),
        (lambda s, _l, _m: first(s).update(overflow_interrupt=288), "overflow_interrupt", "out-of-range"),
        (
            lambda s, _l, _m: first(s).update(error_interrupt=90, overflow_interrupt=90),
            "overflow_interrupt",
            "duplicate-name",
        ),
        (lambda s, _l, _m: old_monitor(s, bits=44), "bandwidth_monitors.bits", "conflict"),
        (lambda s, _l, _m: old_monitor(s, by_direction=True), "bandwidth_monitors.by_direction", "conflict"),
        (lambda _s, llc, _m: llc.update(storage_monitors={"count": 65536}), "count", "out-of-range"),
    ],
)
def test_m3_a_platform_with_components_that_cannot_be_is_refused(
    tmp_path: Path, change: Any, key: str, code: str
) -> None:
    found = refusals(planned(tmp_path, change))
    assert any(place.endswith(key) and what == code for place, what, _ in found), found


def test_m3_platforms_and_their_schema_show_components(tmp_path: Path) -> None:
    code, result = run_json("platforms", str(platform_file(tmp_path)))
    assert code == 0
    assert result["platforms"][0]["llc_divided_by"] == "mpam"
    shown = {one["key"]: one["value"] for one in result["platforms"][0]["parameters"]}
    assert shown["mpam.components[0].resources[0].portions"] == 16
    assert run_json("platforms", "zcu102")[1]["platforms"][0]["llc_divided_by"] == "coloring"
    of_mpam = json.loads(run("schema", "platform")[1])["properties"]["mpam"]
    assert {"type": "array", "maxItems": 0} in of_mpam["anyOf"], "as files of before"


def test_m2_a_core_that_is_known_not_to_have_mpam_has_no_components(tmp_path: Path) -> None:
    platform_file(tmp_path, mpam(), cores={"count": 4, "type": "cortex-a53"})
    found = plan_file(str(system_file(tmp_path))).problems
    assert ("mpam", "conflict") in [(problem.key, problem.code) for problem in found]


@pytest.mark.req("F2")
@pytest.mark.parametrize(
    ("llc", "found"),
    [
        ("{ colors: [7] }", []),  # the hypervisor's, for which the broker acts
        ("{ colors: [5] }", [("broker.llc.colors", "color-overlap")]),
        ("{ colors: [8] }", [("broker.llc.colors[0]", "color-range")]),
        ("{ portions: 3 }", [("broker.llc.portions", "not-on-platform")]),
    ],
)
def test_f2_the_broker_has_the_colors_that_the_file_names(llc: str, found: list[tuple[str, str]]) -> None:
    loaded = load_system("examples/flows.yaml", [f"broker.llc={llc}"])
    assert [(one.key, one.code) for one in loaded.problems] == found
