# SPDX-License-Identifier: Apache-2.0
"""Facts for the page of an experiment's table: versions, platform files, seeds, recorded programs."""

from __future__ import annotations

import hashlib

from bulkhead.config.locate import platform_path
from bulkhead.env.commit import commit, version_text
from bulkhead.experiments.intervals import CONFIDENCE
from bulkhead.experiments.run import Table


def table_facts(table: Table) -> dict[str, str]:
    """Platform, versions and settings that a table's page states."""
    names = dict.fromkeys(str(row.get("platform", table.sheet.platform)) for row in table.rows)
    hashes = {}
    for name in names:
        path = platform_path(name)
        assert path is not None, "it was run"
        of = f" {name}" if len(names) > 1 else ""
        hashes[f"platform file{of}, SHA-256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return {
        "version": version_text(),
        "commit": commit(),
        **hashes,
        "points": str(len(table.rows)),
        **_seeds(table),
        **{f"recorded program {trace.name}": trace.text() for trace in table.traces},
    }


def _seeds(table: Table) -> dict[str, str]:
    seeds = table.rows[0].get("seeds")
    if seeds is None:
        return {}
    return {"seeds of each point": f"{seeds}; intervals: Student's, {CONFIDENCE:.0%}, of the mean over seeds"}
