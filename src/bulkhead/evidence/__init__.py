# SPDX-License-Identifier: Apache-2.0
"""Witnesses of a run: what the emulator's observer counted, and what the translation tables say.

Called by `bulkhead.run` after a run has ended. Nothing in here may trust a statement of the hypervisor
where the same fact can be read from the machine or from the plan.
"""
