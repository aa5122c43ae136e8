# SPDX-License-Identifier: Apache-2.0
"""From a plan to a bootable package: device trees, images, manifest, package. Start at `build.build_plan`."""
