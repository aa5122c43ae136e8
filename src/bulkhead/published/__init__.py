# SPDX-License-Identifier: Apache-2.0
"""Figures that others have published of boards, and ours beside them."""
