# SPDX-License-Identifier: Apache-2.0
"""Images of systems of components (X9): components are linked where the planner has room for them, and packed
with the microkernel and a description of the system. Then they run, and what they promised is compared."""
