# SPDX-License-Identifier: Apache-2.0
"""M7: for any requests of systems to any components, the result is a plan that keeps them, or findings; never
a traceback, and never portions of another owner."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bulkhead.config.mpam import Mpam
from bulkhead.config.platform import Platform
from bulkhead.config.system import System
from bulkhead.planning.mechanism import instances, llc_by_mpam
from bulkhead.planning.mpam_native import ACCEPTED, got, refusal_of
from bulkhead.planning.mpam_planner import plan_mpam
from tests.config.mpam_board import DOMAINS, mpam

from ..platforms import platform

PERCENT = st.one_of(st.integers(1, 10**8), st.integers(10**6, 25 * 10**6)).map(
    lambda n: f"{n // 10**6}.{n % 10**6:06d} %"
)
BITMAP = st.one_of(st.integers(1, (1 << 16) - 1), st.integers(1, (1 << 40) - 1))
AMOUNT: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"share": PERCENT}),
    st.fixed_dictionaries({"size": st.integers(1, 1 << 20)}),
    st.fixed_dictionaries({"portions": BITMAP}, optional={"shared": st.booleans()}),
    st.fixed_dictionaries({"colors": st.lists(st.integers(0, 7), min_size=1, max_size=3, unique=True)}),
    st.just({}),
)
MORE = st.fixed_dictionaries({}, optional={"max": PERCENT, "min": PERCENT, "associativity": PERCENT})
BANDWIDTH = st.fixed_dictionaries(
    {},
    optional={
        "min": PERCENT,
        "max": PERCENT,
        "priority": st.integers(0, 9),
        "portions": BITMAP,
        "stride": st.integers(1, 1 << 16),
    },
)
DOMAIN = st.fixed_dictionaries(
    {"llc": st.tuples(AMOUNT, MORE).map(lambda pair: pair[0] | pair[1]), "bandwidth": BANDWIDTH},
    optional={"virtual_partids": st.integers(2, 8), "criticality": st.sampled_from(["rt", "best-effort"])},
)
COMPONENTS = st.fixed_dictionaries(
    {
        "portions": st.sampled_from([None, 1, 4, 16, 32]),
        "capacity": st.integers(1, 16),
        "minimum": st.booleans(),
        "fraction": st.integers(1, 16),
        "priority": st.integers(1, 16),
        "low": st.booleans(),
        "slices": st.integers(1, 2),
    }
)


@cache
def board() -> Platform:
    return platform("zcu102")


def described(found: dict[str, Any]) -> Platform:
    def change(section: Any, llc: Any, memory: Any) -> None:
        llc["portions"] = found["portions"]
        llc["capacity"] |= {"bits": found["capacity"], "minimum": found["minimum"]}
        if found["portions"] is None:
            del llc["portions"]
        memory["bandwidth"]["bits"] = found["fraction"]
        memory["priority"] = {"internal": found["priority"], "zero_is_low": found["low"]}
        section["components"][0]["resources"] = (llc,) * found["slices"]

    section = mpam(change)
    for component in section["components"]:
        component["resources"] = tuple(component["resources"])
    section["components"] = tuple(section["components"])
    return board().model_copy(update={"mpam": Mpam.model_validate(section)})


def asked_for(own: dict[str, Any], wanted: list[dict[str, Any]]) -> System | None:
    """None: the model refuses the request, for example a minimum above a maximum."""

    def frozen(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: frozen(below) for key, below in value.items()}
        return tuple(frozen(one) for one in value) if isinstance(value, list) else value

    def whole(asked: dict[str, Any]) -> dict[str, Any]:
        kept = dict(asked)
        kept["llc"] = asked["llc"] or "auto"
        kept["bandwidth"] = asked["bandwidth"] or "unlimited"
        return kept

    domains = [one | whole(more) for one, more in zip(DOMAINS, wanted, strict=False)]
    made = {"bulkhead": 1, "name": "any", "platform": "board", "domains": domains}
    made["hypervisor"] = {"llc": own or "auto"}
    try:
        return System.model_validate(frozen(made))
    except ValueError:
        return None


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(COMPONENTS, AMOUNT, st.lists(DOMAIN, min_size=1, max_size=3))
def test_m7_any_file_has_a_plan_that_keeps_it_or_findings(
    components: dict[str, Any], own: dict[str, Any], wanted: list[dict[str, Any]]
) -> None:
    platform, system = described(components), asked_for(own, wanted)
    if system is None:
        return
    assert llc_by_mpam(platform)
    planned = plan_mpam(system, platform)
    assert planned is not None
    assert all(one.cause and one.path for one in planned.findings)
    if planned.findings:
        return
    partids = [p for one in planned.plan.partitions for p in range(one.partid, one.partid + one.count)]
    assert len(partids) == len(set(partids))
    resources = {(one.component.name, one.ris): one.resource for one in instances(platform)}
    assert [(one.component, one.ris, one.partid) for one in planned.plan.settings] == [
        (*place, partid) for place in resources for partid in partids
    ]
    holders = {"hypervisor": system.hypervisor.llc} | {one.name: one.llc for one in system.domains}
    owner_of = {
        partid: one.owner
        for one in planned.plan.partitions
        for partid in range(one.partid, one.partid + one.count)
    }
    for one in planned.plan.settings:
        resource = resources[one.component, one.ris]
        assert refusal_of(resource, one.settings) == (ACCEPTED, 0)
        made = got(resource, one.settings)
        domain = system.domain(owner_of[one.partid])
        if domain is not None and resource.memory is not None and made.mbw_max is not None:
            count = max(1, domain.virtual_partids)
            assert domain.bandwidth.max is None or made.mbw_max * count <= domain.bandwidth.max
            assert domain.bandwidth.min is None or made.mbw_min >= domain.bandwidth.min  # type: ignore[operator]
        share = holders[owner_of[one.partid]].share
        if resource.cache is not None and resource.portions and share is not None:
            assert made.cache_portions is not None
            assert Fraction(made.cache_portions.bit_count(), resource.portions) >= share
        for other in planned.plan.settings:
            same = (one.component, one.ris) == (other.component, other.ris)
            if not same or owner_of[one.partid] == owner_of[other.partid]:
                continue
            both = (one.settings.cache_portions or 0) & (other.settings.cache_portions or 0)
            pair = [holders[owner_of[one.partid]], holders[owner_of[other.partid]]]
            assert not both or all(llc.shared or llc.colors is not None for llc in pair)
