# SPDX-License-Identifier: Apache-2.0
"""Limits of an experiment's file, which its options have, too.

The command line imports this at each start, so it imports nothing.
"""

from __future__ import annotations

MOST_ITERATIONS = 1 << 20
MOST_SEEDS = 1000
