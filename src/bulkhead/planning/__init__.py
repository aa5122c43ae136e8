# SPDX-License-Identifier: Apache-2.0
"""Planning: decides colors and frames, so that the hypervisor need not (C2). Start at `plan.plan_memory`."""
