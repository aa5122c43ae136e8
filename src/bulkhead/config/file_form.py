# SPDX-License-Identifier: Apache-2.0
"""The form that a model's values have in a file, which is the form that they are loaded from.

A type that is parsed from text has its serializer beside its parser (quantity.py, base.py, system.py), so
that keys with this type are written without further code. The serializers apply only to `model_dump` with a
`FileForm` as its context; otherwise, models dump their values unchanged.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import BaseModel, PlainSerializer, SerializationInfo

_MOST_DECIMALS = 60  # quantities are read from at most 60 characters


@dataclass(frozen=True)
class FileForm:
    """Where references to files lead: they are relative to `beside`, and will be relative to `target`."""

    beside: Path
    target: Path

    def moved(self, reference: str) -> str:
        """The reference for a file in `target`. It has a '/', so that it is not taken for a name."""
        start, end = self.beside.resolve(), self.target.resolve()
        if start == end or Path(reference).is_absolute():
            return reference
        path = os.path.relpath(start / reference, end)
        return path if "/" in path else f"./{path}"

    def keys(self, model: BaseModel) -> dict[str, Any]:
        """The keys of a file that `model` can be loaded from: those that were given."""
        keys: dict[str, Any] = model.model_dump(
            by_alias=True, exclude_unset=True, exclude_none=True, context=self
        )
        return keys


def in_files(written: Callable[[Any], Any]) -> PlainSerializer:
    """A serializer that gives a value the form that it has in a file."""

    def serialize(value: Any, info: SerializationInfo) -> Any:
        return value if value is None or not isinstance(info.context, FileForm) else written(value)

    return PlainSerializer(serialize)


def path_in_files(is_name: Callable[[str, Path], bool] = lambda _value, _beside: False) -> PlainSerializer:
    """A serializer for a path relative to the file. `is_name`: whether the value is not a path but the name
    of something that the tool has. Its second argument is the directory of the file."""

    def serialize(value: Any, info: SerializationInfo) -> Any:
        form = info.context
        if value is None or not isinstance(form, FileForm) or is_name(value, form.beside):
            return value
        return form.moved(value)

    return PlainSerializer(serialize)


def exact_decimal(amount: Fraction) -> Decimal:
    """The amount, which has a finite number of decimals as all amounts that were read from files."""
    for decimals in range(_MOST_DECIMALS + 1):
        scaled = amount * 10**decimals
        if scaled.denominator == 1:
            return Decimal(f"{scaled.numerator}e-{decimals}")
    raise ValueError(f"{amount} has no exact decimal form")
