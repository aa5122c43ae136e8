# SPDX-License-Identifier: Apache-2.0
"""Predictions of the simulated machine compared with others' measurements of boards."""
