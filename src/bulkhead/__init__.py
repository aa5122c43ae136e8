# SPDX-License-Identifier: Apache-2.0
"""Bulkhead's tool: configuration, planning, building, running and reports.

This package root holds the version alone, so that importing it costs nothing; the subpackages do the work.
"""

__version__ = "0.1.0"
