/* SPDX-License-Identifier: Apache-2.0
 *
 * Included before every C file of the hypervisor and of the fake hardware where they are fuzzed: what these
 * keep in static storage lies in two sections of its own, which snapshot_sections.cpp puts away and back.
 */
#pragma clang section bss = "snapshot_bss" data = "snapshot_data"
