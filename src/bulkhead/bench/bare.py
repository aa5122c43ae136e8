# SPDX-License-Identifier: Apache-2.0
"""A domain's images as a program for the bare emulator, at the addresses that they have in the domain.

Called by `linux_boot`, to compare a guest with itself without the hypervisor. Guest-physical addresses become
physical ones, so the board must have its memory where the domain has it. The images are not changed.
"""

from __future__ import annotations

import struct

from bulkhead.package.elfout import ElfChunk, write_elf
from bulkhead.package.errors import PackageError
from bulkhead.package.memory import LoadedMemory, LoadRegion, align_down
from bulkhead.planning.model import Plan

# The boot protocol in a few instructions: x0 is the device tree, x1 to x3 are zero; then branch to the entry.
_STUB = struct.Struct("<6I2Q")
_LDR_X0_LITERAL, _LDR_X4_LITERAL = 0x58000000, 0x58000004
_MOV_X1_0, _MOV_X2_0, _MOV_X3_0, _BR_X4 = 0xD2800001, 0xD2800002, 0xD2800003, 0xD61F0080
_TREE_OFFSET, _ENTRY_OFFSET = 24, 32  # of the two addresses, from the stub's start
_STUB_ROOM_BYTES = 4096


def boot_stub(device_tree: int, entry: int) -> bytes:
    """Code for any address that starts `entry` as Linux's boot protocol requires."""
    load_tree = _LDR_X0_LITERAL | (_TREE_OFFSET // 4) << 5
    load_entry = _LDR_X4_LITERAL | ((_ENTRY_OFFSET - 4) // 4) << 5
    return _STUB.pack(load_tree, load_entry, _MOV_X1_0, _MOV_X2_0, _MOV_X3_0, _BR_X4, device_tree, entry)


def bare_program(images: LoadedMemory) -> bytes:
    """An ELF file with the images in place, which starts them by a stub.

    The stub is at the end of the memory that is reserved for the device tree, and is not needed once Linux
    runs.
    """
    tree = next(piece for piece in images.pieces if piece.ipa == images.device_tree_ipa)
    stub_at = align_down(tree.region.end - _STUB_ROOM_BYTES)
    if stub_at < tree.ipa + len(tree.data):
        raise PackageError("the device tree leaves no room for the boot stub")
    stub = boot_stub(images.device_tree_ipa, images.entry_ipa)
    chunks = [ElfChunk(piece.ipa, piece.data) for piece in images.pieces if piece.data]
    return write_elf(stub_at, [*chunks, ElfChunk(stub_at, stub)])


def bare_machine(machine: str) -> str:
    """The emulator's board without the virtualization extensions: guests start at EL1, PSCI is by HVC."""
    return ",".join(part for part in machine.split(",") if part != "virtualization=on")


def bare_ram_bytes(plan: Plan, memory: tuple[LoadRegion, ...]) -> int:
    """RAM that the bare board needs to have all of a domain's memory."""
    start = plan.platform.memory[0].at
    if any(region.start < start for region in memory):
        raise PackageError(f"its memory starts below the memory of the board ({start:#x})")
    return max(region.end for region in memory) - start
