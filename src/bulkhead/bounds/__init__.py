# SPDX-License-Identifier: Apache-2.0
"""Bounds that are computed from machine code: the longest path of a function, in instructions."""
