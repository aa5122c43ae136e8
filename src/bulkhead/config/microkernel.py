# SPDX-License-Identifier: Apache-2.0
"""Section of a platform file about the microkernel on that board: places of components, frames and tables.

The values are those of microkernel/board/; src/bulkhead/mxu/ makes the memory manager's data from them.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from bulkhead.config.base import Text
from bulkhead.config.quantity import Address, Bytes, Hertz, problem
from bulkhead.config.timing import Section

ADDRESS_BITS = 32


class Place(Section):
    at: Address
    size: Bytes

    @property
    def end(self) -> int:
        return self.at + self.size


class Microkernel(Section):
    board: Text  # name of a directory in microkernel/board/
    frames: Place  # memory that the memory manager hands out
    frame: Bytes  # bytes of a frame, a power of two
    code: Place  # of all components
    stack: Bytes  # stack of a component whose file states none
    data: Bytes = 4096  # data of a component whose file states none and that is not linked yet
    manager: Bytes  # size of the memory manager's data
    tables: Annotated[int, Field(ge=0, le=255)] = (
        0  # MMU: frames for each component's table nodes in plain memory
    )
    own_ocm: Bytes = 0  # MMU: on-chip memory for the kernel's own table
    asids: Annotated[int, Field(ge=0, le=255)] = 0  # MMU: ASIDs of components
    entries: tuple[Bytes, ...] = ()  # MMU: sizes of its entries; only these can be locked
    clock: Hertz  # frequency of the clock that components read
    timer: Hertz  # frequency of the scheduler's timer
    emulated_by: Text | None = None  # platform that the emulator runs instead, if it does not have this one

    @model_validator(mode="after")
    def _shaped(self) -> Self:
        if self.frame & (self.frame - 1) or self.frame < 32:
            raise problem("geometry", f"a frame of {self.frame} bytes", "a power of two of at least 32 bytes")
        if self.frames.at % self.frame or self.frames.size % self.frame:
            raise problem(
                "geometry",
                f"{self.frames.at:#x} with {self.frames.size} bytes does not consist of whole frames",
            )
        if max(self.frames.end, self.code.end) > 1 << ADDRESS_BITS:
            raise problem("out-of-range", "frames or code are above the 32-bit address space")
        if any(size & (size - 1) for size in self.entries):
            raise problem("geometry", "entries have sizes that are not powers of two")
        return self
