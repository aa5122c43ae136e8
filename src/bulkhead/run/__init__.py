# SPDX-License-Identifier: Apache-2.0
"""Runs a system, from the build to the result. Start at `system.run_system`."""
