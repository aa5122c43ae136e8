# SPDX-License-Identifier: Apache-2.0
"""A share of the cache or of bandwidth, as `check` and `plan` print it."""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED


@with_config(CLOSED)
class ShareResult(TypedDict):
    """A share, the control that provides it, and the rounded share."""

    owner: str
    """Who has the share."""
    resource: str
    """Name of the cache or of the MPAM component, or `dram`."""
    asked: str
    """What the system file asks for, in words."""
    control: str
    """What provides it."""
    got: str
    """What it has, in words."""
    note: str
    """A remark; empty: none."""
