# SPDX-License-Identifier: Apache-2.0
"""The common keys of the object that `--json` prints.

Commands and the packages that make results call `result_object`, which decides no verdict.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bulkhead import __version__
from bulkhead.env.commit import commit
from bulkhead.env.versions import used_json

if TYPE_CHECKING:
    from bulkhead.results.envelope import Envelope, Verdict


def result_object(
    command: str,
    *,
    system: str | None = None,
    platform: str | None = None,
    on: str | None = None,
    seed: int | None = None,
    verdict: Verdict,
    reasons: Sequence[str] = (),
    platform_sha256: str | None = None,
) -> Envelope:
    """The common keys of the object that `--json` prints; the command's own follow (bulkhead.results).
    `platform_sha256`: read from the platform's file if it is not given."""
    return {
        "bulkhead": {"version": __version__, "commit": commit()},
        "command": command,
        "system": system,
        "platform": platform,
        "platform_sha256": platform_sha256 or _sha256_of(platform),
        "on": on,
        "seed": seed,
        "verdict": verdict,
        "reasons": list(reasons),
        "fetched": used_json(),
    }


def platform_sha256(reference: str) -> str | None:
    """SHA-256 of a platform's text; None if there is no such platform. `reference`: its name, or the path of
    its file."""
    from bulkhead.config.load import load_platform
    from bulkhead.config.locate import platform_path

    path = platform_path(reference)
    text = load_platform(path)[1].text if path is not None else ""
    return hashlib.sha256(text.encode()).hexdigest() if text else None


def _sha256_of(platform: str | None) -> str | None:
    return None if platform is None else platform_sha256(platform)
