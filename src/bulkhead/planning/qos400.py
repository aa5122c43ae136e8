# SPDX-License-Identifier: Apache-2.0
"""Rate registers of QoS-400 regulators, which limit masters of the interconnect (CoreLink QoS-400 TRM,
DSU 0026).

A rate register has 12 bits: 1 to 4095, in units of a 4096th of a transaction in each clock cycle. Reads and
writes have a register each. Used for the broker's engine (planning/flows.py) and for devices of domains
(planning/device_rates.py).
"""

from __future__ import annotations

from fractions import Fraction

from bulkhead.config.platform import Platform
from bulkhead.config.timing import Regulator

PS_PER_S = 10**12
REGISTER_BITS = 12
MOST_REGISTER = (1 << REGISTER_BITS) - 1


def regulator_before(platform: Platform, master: str) -> Regulator | None:
    """The regulator in front of a master; None: there is none."""
    regulators = platform.interconnect.regulators if platform.interconnect is not None else ()
    return next((one for one in regulators if one.master == master), None)


def step_of(regulator: Regulator) -> Fraction:
    """Bytes/s of one unit of a rate register."""
    return Fraction(regulator.transaction * PS_PER_S, regulator.clock << REGISTER_BITS)
