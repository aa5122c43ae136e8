# SPDX-License-Identifier: Apache-2.0
"""An engine that the broker programs itself (F2, D3): what the tool refuses, and what it tells the broker.
examples/bad/flow-engine-*.yaml have further refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.admission.broker_engine import check_broker_engine
from bulkhead.admission.load import Loaded, load_system
from bulkhead.config.load import load_platform
from bulkhead.config.locate import limits
from bulkhead.config.platform import Platform
from bulkhead.config.system import BROKER
from bulkhead.package.smmu import stream_rows
from bulkhead.planning.broker import broker_parameters
from bulkhead.planning.device_rates import device_rates
from bulkhead.planning.plan import plan_memory
from bulkhead.schema import load_layout

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "flows-iommu.yaml"
TRUSTED = ("platform=zcu102", "broker.engine=adma", "broker.dma=trusted", "regulation.overcommit=true")

pytestmark = pytest.mark.req("F2", "D3")


def load(*overrides: str) -> Loaded:
    loaded = load_system(EXAMPLE, overrides)
    assert loaded.ok, loaded.problems
    return loaded


def told(loaded: Loaded) -> dict[str, int]:
    assert loaded.system is not None and loaded.platform is not None
    found = broker_parameters(loaded.system, loaded.platform, emulated=True)
    return {name: value for name, value in found.items() if name.startswith("engine")}


def notices(loaded: Loaded) -> list[str]:
    return [one.code for one in loaded.notices if one.key.startswith("broker.")]


def board(name: str) -> Platform:
    platform, _, problems = load_platform(ROOT / "platforms" / f"{name}.yaml")
    assert platform is not None, problems
    return platform


def test_behind_an_iommu_the_engine_uses_the_brokers_tables_and_addresses() -> None:
    loaded = load()
    assert loaded.system is not None and loaded.platform is not None and loaded.platform.pci is not None
    layout = load_layout()
    assert told(loaded) == {
        "engine": layout.enum_value("own_engine", "edu"),
        "engine_at": loaded.platform.pci.at + (1 << 15),
        "engine_base": limits()["broker_window"],
    }
    plan = plan_memory(loaded.system, loaded.platform)
    broker = next(one for one in plan.domains if one.name == BROKER)
    assert broker.premap
    assert stream_rows(plan) == [{"domain": broker.index, "stream": 1 << 3}]
    assert notices(loaded) == []


def test_a_trusted_broker_uses_physical_addresses_and_every_report_says_so() -> None:
    loaded = load(*TRUSTED)
    assert loaded.system is not None and loaded.platform is not None
    assert told(loaded) == {
        "engine": load_layout().enum_value("own_engine", "zdma"),
        "engine_at": 0xFFA8_0000,
        "engine_base": 0,
    }
    assert "dma-trusted" in notices(loaded)
    plan = plan_memory(loaded.system, loaded.platform)
    assert stream_rows(plan) == []
    assert plan.flows is not None and plan.flows.register is not None, "its regulator has the rate"
    assert device_rates(loaded.system, loaded.platform) == (), "which is admitted with the flows"


@pytest.mark.parametrize("engine", ["cpu-copy", "edu"])
def test_trust_without_need_is_a_notice(engine: str) -> None:
    assert notices(load(f"broker.engine={engine}", "broker.dma=trusted")) == ["no-effect"]


def test_no_engine_reaches_the_window_beside_a_gicv2() -> None:
    """No platform file has such an engine, so the ZynqMP's engine is put behind its driven SMMU here."""
    system = load(*TRUSTED).system
    assert system is not None
    untrusted = system.model_copy(update={"domains": system.domains[:-1]})
    platform = board("zcu102-smmu").model_copy(update={"dma": board("zcu102").dma})
    (found,) = check_broker_engine(untrusted, platform)
    assert (found.code, found.path) == ("conflict", ("broker", "engine"))
    assert "GICv2" in found.cause
