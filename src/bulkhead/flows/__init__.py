# SPDX-License-Identifier: Apache-2.0
"""Flows between domains in the form of the analysis (F4 to F6): core/'s test as a Python module."""
