# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: one module for each, and shared code. Called by the command `bench` and by tests."""
