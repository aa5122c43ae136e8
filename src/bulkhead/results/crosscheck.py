# SPDX-License-Identifier: Apache-2.0
"""Result of `crosscheck`."""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope


@with_config(CLOSED)
class MixResult(TypedDict):
    """Both simulators on the same requests."""

    memory: str
    """Configuration of DRAMsim3."""
    mix: str
    """Kind of the requests."""
    judged: bool
    """The verdict is about it: both serve it by the same policy."""
    peak_bytes_per_s: int
    """Peak rate of the memory."""
    bytes_per_s: int
    """Bandwidth of the simulated machine."""
    peer_bytes_per_s: int
    """Bandwidth of DRAMsim3."""
    read_clocks: float | None
    """Latency of a read in the simulated machine, in clocks; null: requests saturate the memory."""
    peer_read_clocks: float | None
    """The same in DRAMsim3."""
    error: float
    """Relative error of the bandwidth, or of the latency where requests do not saturate the memory."""


@with_config(CLOSED)
class CrosscheckResult(Envelope):
    """The DRAM of the simulated machine beside DRAMsim3."""

    mixes: list[MixResult]
    """The requests, by memory."""
