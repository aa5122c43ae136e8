# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: one module for each, and what they share. Called by the command `bench` and by tests."""
