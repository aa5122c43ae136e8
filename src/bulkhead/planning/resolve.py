# SPDX-License-Identifier: Apache-2.0
"""A plan as a system file: every choice of the planner written as a key.

`bulkhead plan -o` writes this. Loading and planning the file again must give the same plan. The file is
therefore the loaded system itself (config/file_form.py writes each key that was given) with the planner's
choices in place of the keys that leave them open: no key of the file has to be named here to be kept.
"""

from __future__ import annotations

from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter

from bulkhead.config.file_form import FileForm
from bulkhead.config.shares import Bandwidth
from bulkhead.config.system import Broker, Domain, Hypervisor, Isolation, SocketPool, System
from bulkhead.planning.broker import is_broker
from bulkhead.planning.flows import FlowPlan
from bulkhead.planning.mechanism import llc_mechanism
from bulkhead.planning.model import Plan
from bulkhead.planning.resolve_shares import resolved_shares
from bulkhead.planning.socket_pool import pool_bytes_of

_HEADER = "# Resolved by `bulkhead plan`. It chose these values for these reasons:\n"


class _Representer(RoundTripRepresenter):
    """Writes exact decimals as numbers."""


def _decimal(representer: _Representer, value: Decimal) -> ScalarNode:
    text = f"{value:f}"
    kind = "float" if "." in text else "int"
    node: ScalarNode = representer.represent_scalar(f"tag:yaml.org,2002:{kind}", text)
    return node


_Representer.add_representer(Decimal, _decimal)


def resolved_text(plan: Plan, *, beside: Path, target: Path) -> str:
    """Text of the resolved system file. Paths relative to `beside` become relative to `target`."""
    reasons = "".join(f"#   {choice.key}: {choice.value} ({choice.reason})\n" for choice in plan.choices)
    return _HEADER + reasons + file_text(FileForm(beside, target).keys(resolved_system(plan)))


def file_text(keys: dict[str, Any]) -> str:
    """YAML text of the keys of a file (`FileForm.keys`)."""
    yaml = YAML()
    yaml.Representer = _Representer
    yaml.width = 110
    stream = StringIO()
    yaml.dump(keys, stream)
    return stream.getvalue()


def resolved_system(plan: Plan) -> System:
    """The system of a plan, as a file describes it, with the planner's choices."""
    system = plan.system
    domains = tuple(
        _domain(plan, domain, index)
        for index, domain in enumerate(system.domains)
        if not is_broker(system, domain.name)
    )
    choices: dict[str, Any] = {
        "hypervisor": _hypervisor(plan, system.hypervisor),
        "isolation": _isolation(plan, system.isolation),
        "domains": domains,
    }
    if system.broker is not None and plan.flows is not None:
        choices["broker"] = _broker(plan, plan.flows, system.broker)
    if system.brokers and plan.brokers:
        given = zip(plan.brokers, system.brokers.items(), strict=True)
        choices["brokers"] = {name: _broker(plan, planned, broker) for planned, (name, broker) in given}
    return system.model_copy(update=choices)


def _hypervisor(plan: Plan, hypervisor: Hypervisor) -> Hypervisor:
    choices: dict[str, Any] = {
        **resolved_shares(plan, hypervisor, "hypervisor", plan.pool.colors),
        "memory": plan.pool.bytes,
    }
    if plan.tables is not None and plan.tables.colored is not None:
        colors = plan.tables.colored.colors or ()
        colors_of_llc = sorted({plan.space.llc_color_of(color) for color in colors})
        choices["tables"] = hypervisor.tables.model_copy(update={"colors": tuple(colors_of_llc)})
    return hypervisor.model_copy(update=choices)


def _isolation(plan: Plan, isolation: Isolation) -> Isolation:
    return isolation.model_copy(update={"llc": llc_mechanism(plan.system, plan.platform)})


def _domain(plan: Plan, domain: Domain, index: int) -> Domain:
    choices: dict[str, Any] = {
        **resolved_shares(plan, domain, domain.name, plan.domains[index].colors),
        "maintenance": plan.system.maintenance_of(domain),
    }
    if domain.socket_pool is not None:
        choices["socket_pool"] = SocketPool(size=pool_bytes_of(plan.system, domain))
    if domain.bandwidth.max is not None and domain.bandwidth.budget is not None:
        choices["bandwidth"] = _budget_alone(domain.bandwidth)
    return domain.model_copy(update=choices)


def _budget_alone(bandwidth: Bandwidth) -> Bandwidth:
    """A maximum that is provided by reservation is a budget (reserved.py), and a file has one of the two."""
    kept = bandwidth.model_fields_set - {"max", "hard"}
    return Bandwidth.model_construct(kept, **{key: getattr(bandwidth, key) for key in kept})


def _broker(plan: Plan, planned: FlowPlan, broker: Broker) -> Broker:
    name = planned.broker.name
    domain = plan.system.domain(name)
    placed = next((one for one in plan.domains if one.name == name), None)
    choices: dict[str, Any] = {"cpu": planned.cpu, "rate": planned.rate}
    if domain is not None and placed is not None:
        choices |= resolved_shares(plan, domain, name, placed.colors)
    return broker.model_copy(update=choices)
