# SPDX-License-Identifier: Apache-2.0
"""Base classes of all models of files: strict, frozen, without unknown keys; some accept a word or a value in
place of a mapping.

system.py and platform.py derive from these. Models hold values, no positions in files: validate.py adds
those.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from bulkhead.config.file_form import FileForm
from bulkhead.config.problem import nearest_of, quoted
from bulkhead.config.quantity import Empty, described, problem

_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}", re.ASCII)


def _name(value: object) -> object:
    if isinstance(value, str) and not _NAME.fullmatch(value):
        raise problem(
            "bad-name", f"{quoted(value)} is not a name", "1 to 31 of a-z 0-9 -, starting with a letter"
        )
    return value


def _version(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int):
        raise problem("wrong-type", f"is {described(value)}", "the version of the format, 1")
    if value != 1:
        raise problem(
            "bad-version", f"is version {str(value)[:20]} of the format, which this tool does not know", "1"
        )
    return value


def _text(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise problem("bad-text", "is empty text", "at least one character")
    if isinstance(value, str) and not value.isprintable():
        raise problem("bad-text", f"{quoted(value)} has control characters", "printable characters")
    return value


def _null(value: object) -> object:
    return None if isinstance(value, Empty) else value


NAME_PATTERN = r"^[a-z][a-z0-9-]{0,30}$"
Name = Annotated[str, BeforeValidator(_name), Field(json_schema_extra={"pattern": NAME_PATTERN})]
FormatVersion = Annotated[int, BeforeValidator(_version), Field(json_schema_extra={"const": 1})]
Text = Annotated[str, BeforeValidator(_text), Field(max_length=2048)]
Nullable = BeforeValidator(_null)  # marks the few keys that may be written as `null`
Count = Annotated[int, Field(ge=0, le=1 << 31)]


class Model(BaseModel):
    """Base of all models: a mapping in a file."""

    # Deferred: a validator is compiled when its model is first used. Most of the hundred models are used only
    # as parts of another one, whose validator includes theirs.
    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True
    )


class WordModel(Model):
    """A mapping in whose place the file may have one of a few words, for example `llc: auto`."""

    words: ClassVar[dict[str, JsonSchemaValue]] = {}
    one_of: ClassVar[tuple[str, ...]] = ()  # at most one of these keys is in the mapping form
    also: ClassVar[tuple[str, ...]] = ()  # without any key of `one_of`, at least one of these is needed

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, value: object) -> object:
        keys = " or ".join(f"{{ {key}: ... }}" for key in cls.one_of)
        allowed = ", ".join([*cls.words, keys])
        if isinstance(value, str):
            if value not in cls.words:
                raise problem(
                    "bad-value", f"{quoted(value)} is not known here", allowed, nearest_of(value, cls.words)
                )
            return cls.words[value]
        if not isinstance(value, (dict, cls)):
            raise problem("wrong-type", f"is {described(value)}", allowed)
        if isinstance(value, dict) and cls.one_of:
            given = [key for key in cls.one_of if key in value]
            unknown = [key for key in value if key not in cls.model_fields]
            if len(given) > 1:
                raise problem(
                    "conflict", f"has both {' and '.join(given)}", f"one of {', '.join(cls.one_of)}"
                )
            if not given and not unknown and not any(key in value for key in cls.also):
                raise problem("missing-key", f"has none of {', '.join(cls.one_of + cls.also)}", allowed)
        return value

    @model_serializer(mode="wrap")
    def _word(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> Any:
        """In a file, the word that stands for the mapping, if there is one."""
        keys = handler(self)
        if not isinstance(info.context, FileForm):
            return keys
        return next((word for word, stands_for in self.words.items() if stands_for == keys), keys)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        short = {"enum": list(cls.words)} if cls.words else None
        return _with_short(short, schema, handler)


class ShortModel(Model):
    """A mapping in whose place the file may have a single value. Subclasses define the value and its
    meaning."""

    short: ClassVar[JsonSchemaValue]  # JSON Schema of the single value
    forms: ClassVar[str]  # text of an error message: what is accepted, as value or as mapping

    @classmethod
    def from_short(cls, value: object) -> dict[str, object] | None:
        """Returns the mapping that a value stands for; None if `value` is not the short form."""
        raise NotImplementedError

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, value: object) -> object:
        mapping = cls.from_short(value)
        if mapping is None and not isinstance(value, (dict, cls)):
            raise problem("wrong-type", f"is {described(value)}", cls.forms)
        return value if mapping is None else mapping

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return _with_short(cls.short, schema, handler)


def _with_short(
    short: JsonSchemaValue | None, schema: CoreSchema, handler: GetJsonSchemaHandler
) -> JsonSchemaValue:
    mapping = handler.resolve_ref_schema(handler(schema))
    return mapping if short is None else {"anyOf": [short, dict(mapping)]}
