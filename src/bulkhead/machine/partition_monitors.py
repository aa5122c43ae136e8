# SPDX-License-Identifier: Apache-2.0
"""MPAM's monitors of a job's partitions: one for storage in each cache, and one for each direction of each
memory.

They are read in addition to the machine's own counts, which are not by partition. `point` starts them with
the partitions and reads them with the results. Offsets and fields are those of core/mpam_registers.h.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bulkhead.config.platform import Platform
from bulkhead.errors import InvalidInput
from bulkhead.machine.answer import PartitionAnswer
from bulkhead.machine.native import SimulatedMachine
from bulkhead.machine.partitions import MachinePartition
from bulkhead.planning.mechanism import Instance, instances

MON_SEL, CSU_FLT, CSU_CTL, MBWU_FLT, MBWU_CTL = 0x800, 0x810, 0x818, 0x820, 0x828
CSU, MBWU_L = 0x840, 0x880
ENABLED, MATCH_PARTID, MATCH_PMG = 1 << 31, 1 << 16, 1 << 17
DIRECTIONS = {"written": 1 << 30, "read": 2 << 30}  # MSMON_CFG_MBWU_FLT.RWBW
NOT_READY, NOT_READY_L = 1 << 31, 1 << 63
_RIS_SHIFT = 24
_LONG_BYTES = 8


class NoMonitor(InvalidInput):
    """There are fewer monitors than partitions."""


class PartitionMonitors:
    """The monitors of all partitions, as read by software that takes no time."""

    def __init__(
        self, partitions: Sequence[MachinePartition], platform: Platform, machine: SimulatedMachine
    ) -> None:
        self._partitions, self._machine = partitions, machine
        components = [one.name for one in platform.mpam.components] if platform.mpam is not None else []
        self._instances = [
            (components.index(one.component.name), one) for one in instances(platform) if partitions
        ]
        self._configure()

    def read(self) -> list[PartitionAnswer]:
        """Bytes that each partition holds now, and bytes that were read and written for it so far."""
        found: list[PartitionAnswer] = [
            {
                "name": one.wanted.name,
                "partid": one.partid,
                "owners": list(one.owners),
                "held": 0,
                "moved": dict.fromkeys(DIRECTIONS, 0),
            }
            for one in self._partitions
        ]
        for component, number, way, instance, monitor in self._all():
            self._select(component, instance, monitor)
            if way == "held":
                found[number]["held"] += self._value(component, CSU, 4, NOT_READY)
            else:
                found[number]["moved"][way] += self._value(component, MBWU_L, _LONG_BYTES, NOT_READY_L)
        return found

    def _configure(self) -> None:
        for component, number, way, instance, monitor in self._all():
            partid, match = self._partitions[number].partid, ENABLED | MATCH_PARTID | MATCH_PMG
            self._select(component, instance, monitor)
            storage = way == "held"
            write = self._machine.component_write
            write(component, CSU_FLT if storage else MBWU_FLT, partid | (0 if storage else DIRECTIONS[way]))
            write(component, CSU_CTL if storage else MBWU_CTL, match)

    def _all(self) -> Iterator[tuple[int, int, str, Instance, int]]:
        """Component, partition, kind of count, instance, monitor. Raises NoMonitor."""
        for component, instance in self._instances:
            resource = instance.resource
            kinds: tuple[str, ...] = ()
            count = 0
            if resource.storage_monitors is not None:
                kinds, count = ("held",), resource.storage_monitors.count
            elif resource.bandwidth_monitors is not None:
                kinds, count = tuple(DIRECTIONS), resource.bandwidth_monitors.count
            if len(kinds) * len(self._partitions) > count:
                raise NoMonitor(f"'{instance.name}' has {count} monitors, too few for all partitions")
            for number in range(len(self._partitions)):
                for place, kind in enumerate(kinds):
                    yield component, number, kind, instance, number * len(kinds) + place

    def _select(self, component: int, instance: Instance, monitor: int) -> None:
        self._machine.component_write(component, MON_SEL, instance.ris << _RIS_SHIFT | monitor)

    def _value(self, component: int, offset: int, nbytes: int, not_ready: int) -> int:
        value = self._machine.component_read(component, offset, nbytes)
        if value & not_ready:
            return 0  # it was just configured: nothing is counted yet
        return value
