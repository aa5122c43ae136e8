# SPDX-License-Identifier: Apache-2.0
"""Mappings as of a file for each key of a model and each kind of value that the key accepts, found from the
model alone: a key that is added to the schema is covered without a change here.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from bulkhead.config.base import Model

Plain = Any  # a value as source.py reads it: lists are tuples
_SCALARS: tuple[Plain, ...] = (
    *(True, False, 1, 3, 7, Decimal("1.25")),
    *("3 ns", "7 us", "3 KiB", "3 MB/s", "3.25 %", "other", "1 to 2"),
)


def forms_of(model: type[Model]) -> dict[str, list[dict[str, Plain]]]:
    """For each key, down to the innermost ones: valid mappings that give the key a value besides its default.
    Fails for a key that no value was found for."""
    found: dict[str, list[dict[str, Plain]]] = {}
    for name, field in model.model_fields.items():
        key = field.alias or name
        for path, value in _values(_annotation(field)):
            given = _completed(model, key, value)
            if given is not None and _differs(model, name, given):
                found.setdefault(f"{key}{path}", []).append(given)
        assert any(path == key or path.startswith((f"{key}.", f"{key}[")) for path in found), (
            f"no value was found that the key '{key}' of {model.__name__} accepts and that is not its default"
        )
    return found


def _differs(model: type[Model], name: str, given: dict[str, Plain]) -> bool:
    field = model.model_fields[name]
    return field.is_required() or getattr(model.model_validate(given), name) != field.default


def _annotation(field: FieldInfo) -> Any:
    return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation


def _values(of: Any) -> Iterator[tuple[str, Plain]]:
    """Values that a type accepts, each with the path of the innermost key that it is for."""
    if isinstance(of, type) and issubclass(of, Model):
        for path, forms in _forms(of).items():
            for form in forms:
                yield f".{path}", form
        return
    arguments = [one for one in get_args(of) if one not in (type(None), ...)]
    if not any(_has_model(one) for one in arguments):
        yield from (("", value) for value in _accepted(of))
    elif get_origin(of) is dict:
        names = _accepted(arguments[0])
        yield from ((f".*{path}", {names[0]: value}) for path, value in _values(arguments[1]))
    elif get_origin(of) is tuple:
        yield from ((f"[]{path}", (value,)) for path, value in _values(arguments[0]))
    else:  # optional, or with metadata
        for one in arguments:
            if _has_model(one):
                yield from _values(one)


@cache
def _forms(model: type[Model]) -> dict[str, list[dict[str, Plain]]]:
    return forms_of(model)


def _has_model(of: Any) -> bool:
    return (isinstance(of, type) and issubclass(of, Model)) or any(_has_model(one) for one in get_args(of))


def _accepted(of: Any) -> list[Plain]:
    """Scalars, lists and mappings that a type without keys accepts, each for a different value."""
    if repr(of) not in _KNOWN:  # types with metadata have no hash
        _KNOWN[repr(of)] = _found_to_be_accepted(of)
    return _KNOWN[repr(of)]


_KNOWN: dict[str, list[Plain]] = {}


def _found_to_be_accepted(of: Any) -> list[Plain]:
    adapter = TypeAdapter(of, config=None)
    words = [*_words(of), *_words_of_schema(adapter.json_schema())]
    scalars = [*words, *_SCALARS]
    lists = [(one,) for one in scalars] + [tuple(words[:2])]
    found: list[Plain] = []
    values: list[Any] = []
    for plain in [*scalars, *lists, *({"other": one} for one in scalars)]:
        try:
            value = adapter.validate_python(plain, strict=True)
        except ValidationError:
            continue
        if not any(value == known and type(value) is type(known) for known in values):
            found.append(plain)
            values.append(value)
    return found


def _words(of: Any) -> list[Plain]:
    below = [word for one in get_args(of) if get_origin(of) is not Literal for word in _words(one)]
    return [*get_args(of)] if get_origin(of) is Literal else below


def _words_of_schema(node: Any) -> list[Plain]:
    if isinstance(node, list):
        return [word for one in node for word in _words_of_schema(one)]
    if not isinstance(node, dict):
        return []
    own = [*node.get("enum", ()), *([node["const"]] if "const" in node else [])]
    return own + [word for below in node.values() for word in _words_of_schema(below)]


def _completed(model: type[Model], key: str, value: Plain) -> dict[str, Plain] | None:
    """A valid mapping with this key: with those that are required, and one more that the key may need."""
    required = {
        field.alias or name: _simplest(_annotation(field))
        for name, field in model.model_fields.items()
        if field.is_required() and (field.alias or name) != key
    }
    given = {**required, key: value}
    if _is_valid(model, given):
        return given
    for name, field in model.model_fields.items():
        other = field.alias or name
        if other in given or _has_model(_annotation(field)):
            continue
        for plain in _accepted(_annotation(field)):
            if _is_valid(model, more := {**given, other: plain}):
                return more
    return None


def _simplest(of: Any) -> Plain:
    return next(_values(of))[1]


def _is_valid(model: type[Model], given: dict[str, Plain]) -> bool:
    try:
        model.model_validate(given)
    except ValidationError:
        return False
    return True
