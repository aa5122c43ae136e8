# SPDX-License-Identifier: Apache-2.0
"""Rows of tables, and points of sweeps. Their columns are those that the file of the experiment names."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
Point = dict[str, Any]
"""Values of a point by swept key, which are the first columns of its row."""
