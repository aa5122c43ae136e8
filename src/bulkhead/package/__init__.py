# SPDX-License-Identifier: Apache-2.0
"""From a plan to what boots: device trees, images, manifest, package. Start at `build.build_plan`."""
