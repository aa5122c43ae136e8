# SPDX-License-Identifier: Apache-2.0
"""Tests of `bulkhead resctrl`, on trees of files made like the kernel's."""
