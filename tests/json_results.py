# SPDX-License-Identifier: Apache-2.0
"""What commands print with `--json`, read and validated against the types of results (bulkhead.results).

Every test that reads a result reads it here, so that a key that is missing, wrong or unknown fails the test.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from bulkhead.results.envelope import RefusalResult
from bulkhead.results.schema import SHAPES, adapter

_REFUSAL = TypeAdapter(RefusalResult)


def parsed(text: str | bytes) -> dict[str, Any]:
    """The object that a command has printed; it is as `bulkhead schema COMMAND-result` says."""
    return validated(json.loads(text))


def validated(result: dict[str, Any]) -> dict[str, Any]:
    """The same object, which is as `bulkhead schema COMMAND-result` says."""
    command = str(result["command"])
    validates = _adapter(command) if command in SHAPES else _REFUSAL
    validates.validate_python(result, strict=True)
    assert (result["verdict"] == "ok") == (not result["reasons"]), result["reasons"]
    return result


@cache
def _adapter(command: str) -> TypeAdapter[Any]:
    return adapter(command)
