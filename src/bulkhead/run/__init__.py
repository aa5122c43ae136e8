# SPDX-License-Identifier: Apache-2.0
"""Runs a built system in the emulator and gathers what it did. Start at `session.run_session`."""
