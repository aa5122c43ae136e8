# SPDX-License-Identifier: Apache-2.0
"""Systems of components (X9): what each allocation gets of the hardware that checks accesses, by core/'s policy."""
