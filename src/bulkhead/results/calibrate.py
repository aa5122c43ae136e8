# SPDX-License-Identifier: Apache-2.0
"""Result of `calibrate`."""

from __future__ import annotations

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope


@with_config(CLOSED)
class FittedParameterResult(TypedDict):
    """A parameter that was fitted."""

    key: str
    """Path of its key."""
    value: str
    """Fitted value, as the platform file has it."""


@with_config(CLOSED)
class CheckedFactResult(TypedDict):
    """A measured fact, and what the machine gives. It has a target or a range."""

    fact: str
    """Name of the fact."""
    unit: str
    """Its unit."""
    target: NotRequired[float]
    """The measured value, if it is a single one."""
    low: NotRequired[float]
    """Lower end of the measured range, if it is a range."""
    high: NotRequired[float]
    """Upper end of the measured range, if it is a range."""
    source: NotRequired[str]
    """Document that it is from."""
    follows: str | None
    """Another fact from which it follows by arithmetic; null: it is independent."""
    independent: bool
    """It follows from no other fact."""
    measured: float | None
    """Value of the simulated machine; null: it has no model for it."""
    error: float | None
    """Relative error of that value; null if there is none."""
    fitted: bool
    """Parameters are fitted to it."""
    reason: NotRequired[str]
    """Why there is no value."""


@with_config(CLOSED)
class CalibrateResult(Envelope):
    """Measured facts beside what the machine gives."""

    parameters: list[FittedParameterResult]
    """Parameters that were fitted; empty with `--check`."""
    facts: list[CheckedFactResult]
    """The facts."""
    perturbed: list[str] | None
    """Changes of parameters that were tried, the first one empty; null without `--perturb`."""
    same: list[list[str]] | None
    """Pairs of facts that always move together; null without `--perturb`."""
