# SPDX-License-Identifier: Apache-2.0
"""Experiments on the simulated machine: what to sweep, the runs side by side, tables and plots."""
