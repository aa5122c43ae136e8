# SPDX-License-Identifier: Apache-2.0
"""Result of `report`."""

from __future__ import annotations

from pydantic import with_config

from bulkhead.results.envelope import CLOSED, Envelope


@with_config(CLOSED)
class ReportResult(Envelope):
    """Runs, and the page that compares them."""

    runs: list[dict[str, object]]
    """Contents of report.json of the runs that could be read, as `run-result` describes them."""
    files: list[str]
    """File with the page; empty if there is none."""
