# SPDX-License-Identifier: Apache-2.0
"""Bulkhead's tool: configuration, planning, building, running and reports.

This package root holds the version alone, so that importing it costs nothing; what does the work is in
the subpackages.
"""

__version__ = "0.1.0"
