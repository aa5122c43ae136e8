# SPDX-License-Identifier: Apache-2.0
"""The parts of `make fuzz`: running targets, counting lines."""
