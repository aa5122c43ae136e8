# SPDX-License-Identifier: Apache-2.0
"""System and platform files: read, checked, turned into typed values. Start at `load.load_platform`."""
