# SPDX-License-Identifier: Apache-2.0
"""Result of `validate`."""

from __future__ import annotations

from typing import Literal

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope

BoardRole = Literal["calibration", "validation"]


@with_config(CLOSED)
class ErrorsResult(TypedDict):
    """Relative errors of several points."""

    points: int
    """Number of points."""
    median: float
    """Median of the errors."""
    worst: float
    """Largest error."""


@with_config(CLOSED)
class BoardErrorsResult(TypedDict):
    """Relative errors of one board."""

    board: str
    """The board: a platform."""
    role: BoardRole
    """Parameters were fitted to its figures (`calibration`), or not (`validation`)."""
    points: int
    """Number of points."""
    median: float
    """Median of the errors."""
    worst: float
    """Largest error."""


@with_config(CLOSED)
class ValidationPointResult(TypedDict):
    """A published figure, and what the machine predicts."""

    board: str
    """The board: a platform."""
    role: BoardRole
    """Role of the board."""
    kind: str
    """What was measured."""
    pages: str
    """Pages of the measured memory."""
    bytes: int
    """Size of the measured memory."""
    processes: int
    """Number of processes."""
    unit: str
    """Unit of the figure."""
    published: float
    """The figure."""
    predicted: float
    """What the machine predicts."""
    error: float
    """Relative error of the prediction."""


@with_config(CLOSED)
class ValidateResult(Envelope):
    """Predictions of the simulated machine beside published figures."""

    boards: list[BoardErrorsResult]
    """The boards."""
    points: list[ValidationPointResult]
    """The figures."""
    validation: ErrorsResult
    """Errors of validation boards, which the verdict is about."""
    calibration: ErrorsResult
    """Errors of calibration boards."""
    files: list[str]
    """Files with the page and its plots."""
    seconds: float
    """Wall time."""
