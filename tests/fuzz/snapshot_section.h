/* SPDX-License-Identifier: Apache-2.0
 *
 * Included before every C file of the hypervisor and of the fake hardware in fuzz targets: their static
 * storage is put into two separate sections, which snapshot_sections.cpp saves and restores.
 */
#pragma clang section bss = "snapshot_bss" data = "snapshot_data"
