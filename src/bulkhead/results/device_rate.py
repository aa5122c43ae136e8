# SPDX-License-Identifier: Apache-2.0
"""Memory bandwidth of a domain's device, in the results of `check`, `plan` and `run`."""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED


@with_config(CLOSED)
class DeviceRateResult(TypedDict):
    """The memory bandwidth of a device that masters memory, reads and writes together."""

    name: str
    """Name in the platform file."""
    charged_bytes_per_s: int | None
    """The rate that admission counts; null: no rate is known, and the device is unbounded."""
    declared_bytes_per_s: int | None
    """The rate that the system file declares; null: none."""
    most_bytes_per_s: int | None
    """The most that the hardware moves, as the platform file states it; null: not known."""
    regulated: bool
    """Whether a QoS-400 regulator of the interconnect limits the device to the charged rate. Of `check` and
    `plan`: on the board and on the simulated machine; a run on the emulator has no regulators."""
    dynamic: bool
    """Whether a dynamic policy changes that limit; the charged rate is the one at the start."""
