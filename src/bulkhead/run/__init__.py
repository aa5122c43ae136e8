# SPDX-License-Identifier: Apache-2.0
"""Runs a built system in the emulator and collects its results. Start at `session.run_session`."""
