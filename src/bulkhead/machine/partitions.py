# SPDX-License-Identifier: Apache-2.0
"""MPAM partitions of a job: their requests become register writes of the platform's components, and the cores
of their parts get their label.

`point` calls this before anything runs. Settings are made like the planner's for domains, and core/ encodes
them; nothing is decided here. PARTIDs are those of domains, in the order of the job.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from bulkhead.config.base import Model, Text
from bulkhead.config.platform import Platform
from bulkhead.config.problem import key_text
from bulkhead.config.shares import AUTO_LLC, UNLIMITED, Bandwidth, Llc
from bulkhead.errors import InvalidInput
from bulkhead.machine.job import Job
from bulkhead.machine.native import SimulatedMachine
from bulkhead.planning.mechanism import Instance, instances, is_llc
from bulkhead.planning.mpam import FIRST_DOMAIN_PARTID, Settings
from bulkhead.planning.mpam_bandwidth import bandwidth_of
from bulkhead.planning.mpam_cache import beside_portions
from bulkhead.planning.mpam_native import ACCEPTED, load_built, refusal_of, writes_of
from bulkhead.planning.mpam_refusal import reason

# PARTID of parts without a partition, which is set to no limits. After a reset its minimum would be the
# whole.
UNLABELLED = 0


class BadPartition(InvalidInput):
    """A partition asks for something that the platform does not have."""


class WantedPartition(Model):
    """A partition of a job, with the keys of a domain in a system file. Portions of the cache are named
    explicitly."""

    name: Text
    llc: Llc = AUTO_LLC
    bandwidth: Bandwidth = UNLIMITED


@dataclass(frozen=True)
class MachinePartition:
    wanted: WantedPartition
    partid: int
    owners: tuple[int, ...]  # of memory: numbers of its parts, from 1


def partitions_of(job: Job) -> tuple[MachinePartition, ...]:
    """The partitions of a job. Raises BadPartition."""
    given = [_validated(one) for one in job.get("partitions", ())]
    names = [one.name for one in given]
    if len(set(names)) < len(names):
        raise BadPartition(f"partitions: two of {', '.join(names)} have the same name")
    for part in job["parts"]:
        if part.get("partition") not in (None, *names):
            known = ", ".join(names) or "none"
            raise BadPartition(f"part '{part['name']}': '{part['partition']}' is not a partition ({known})")
    return tuple(
        MachinePartition(
            one,
            FIRST_DOMAIN_PARTID + number,
            tuple(owner for owner, part in enumerate(job["parts"], 1) if part.get("partition") == one.name),
        )
        for number, one in enumerate(given)
    )


def divide(
    job: Job, partitions: Sequence[MachinePartition], platform: Platform, machine: SimulatedMachine
) -> None:
    """Writes the settings and labels the cores. Raises BadPartition."""
    if partitions and platform.mpam is None:
        raise BadPartition(f"platform '{platform.name}' has no MPAM")
    if partitions:
        load_built()
    components = [one.name for one in platform.mpam.components] if platform.mpam is not None else []
    for instance in instances(platform) if partitions else ():
        component = components.index(instance.component.name)
        wanted = {one.partid: settings_of(one.wanted, instance, platform) for one in partitions}
        for partid, settings in {UNLABELLED: Settings(), **wanted}.items():
            for offset, value in writes_of(instance.resource, settings, instance.ris, partid):
                machine.component_write(component, offset, value)
    for one in partitions:
        for owner in one.owners:
            machine.label(job["parts"][owner - 1]["core"], one.partid)


def settings_of(wanted: WantedPartition, instance: Instance, platform: Platform) -> Settings:
    """The partition's settings for one resource instance. Raises BadPartition if core/ refuses them."""
    settings = Settings()
    if is_llc(instance, platform):
        settings = beside_portions(wanted.llc, wanted.llc.portions)
    elif instance.resource.memory is not None:
        settings = bandwidth_of(wanted.bandwidth, instance.resource)
    refusal, control = refusal_of(instance.resource, settings)
    if refusal != ACCEPTED:
        raise BadPartition(f"partition '{wanted.name}', {reason(instance, settings, refusal, control)}")
    return settings


def _validated(given: Any) -> WantedPartition:
    try:
        wanted = WantedPartition.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False)
        wrong = [f"{key_text(('partitions', *one['loc']))}: {one['msg']}" for one in found]
        raise BadPartition("; ".join(wrong)) from error
    if any(getattr(wanted.llc, key) is not None for key in ("colors", "share", "size")):
        raise BadPartition(f"partition '{wanted.name}', llc: only named `portions` can be given here")
    if not wanted.bandwidth.unlimited:
        raise BadPartition(
            f"partition '{wanted.name}', bandwidth: budgets belong to parts, not to partitions"
        )
    return wanted
