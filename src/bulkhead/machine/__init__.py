# SPDX-License-Identifier: Apache-2.0
"""The simulated machine from Python: its settings from a platform file, one run as a process of its own."""
