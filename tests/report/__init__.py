# SPDX-License-Identifier: Apache-2.0
"""Tests of reports about runs."""
