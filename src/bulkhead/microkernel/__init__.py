# SPDX-License-Identifier: Apache-2.0
"""Images of systems of components (X9): components are linked at the addresses that the planner chose, and
packed with the microkernel and a description of the system. Then the system runs, and its promises are
checked."""
