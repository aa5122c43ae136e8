# SPDX-License-Identifier: Apache-2.0
"""Witnesses of a run: the counts of the emulator's observer, and the translation tables.

Called by `bulkhead.run` after a run has ended. No module here may rely on a statement of the hypervisor if
the same fact can be read from the machine or from the plan.
"""
