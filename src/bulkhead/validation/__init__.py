# SPDX-License-Identifier: Apache-2.0
"""Predictions of the simulated machine beside what others measured on boards."""
