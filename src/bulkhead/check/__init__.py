# SPDX-License-Identifier: Apache-2.0
"""Checks of system files, for the commands `check` and `plan`. Start at `files.check_file`."""
