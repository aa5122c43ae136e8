# SPDX-License-Identifier: Apache-2.0
"""Tests of `bulkhead resctrl`, on file trees like the kernel's."""
