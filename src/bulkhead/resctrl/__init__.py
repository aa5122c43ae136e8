# SPDX-License-Identifier: Apache-2.0
"""Shares of a running Linux: the kernel's resctrl file system in the vocabulary of system files."""
