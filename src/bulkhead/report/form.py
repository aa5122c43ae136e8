# SPDX-License-Identifier: Apache-2.0
"""Results of runs that a report cannot show, because they are damaged or another version has written them.

The command `report` shows and writes runs within `readable`. A result of another form is no error as long as
what it lacks can be left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jinja2 import UndefinedError
from pydantic import TypeAdapter, ValidationError

from bulkhead.config.problem import key_text
from bulkhead.report.load import NotARun
from bulkhead.results.components_run import ComponentsRunResult
from bulkhead.results.run import RunResult

_NOT_AS_EXPECTED = (AttributeError, LookupError, TypeError, ValueError, UndefinedError)


@contextmanager
def readable(results: Sequence[tuple[Path, Mapping[str, Any]]]) -> Iterator[None]:
    """Runs a block that reads the results of runs, each with its directory. If the block fails and a result
    has another form than this version's, raises NotARun, which names the first such result."""
    try:
        yield
    except _NOT_AS_EXPECTED as error:
        for directory, result in results:
            if (where := _other_form(result)) is not None:
                raise NotARun(
                    f"{directory / 'report.json'}: {where}: another version has written it, or it is damaged"
                ) from error
        raise


def _other_form(result: Mapping[str, Any]) -> str | None:
    """The first place that is not as this version writes it; None: there is none."""
    shape: Any = ComponentsRunResult if "admitted" in result else RunResult
    try:
        TypeAdapter(shape).validate_python(dict(result))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{key_text(tuple(first['loc']))}: {first['msg']}"
    return None
