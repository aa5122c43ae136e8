# SPDX-License-Identifier: Apache-2.0
"""Figures that others have published of boards. experiments/published.py has ours beside them."""
