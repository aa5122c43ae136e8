# SPDX-License-Identifier: Apache-2.0
"""Flows between domains as the analysis sees them (F4 to F6): core/'s test in Python's hands."""
