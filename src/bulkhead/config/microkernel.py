# SPDX-License-Identifier: Apache-2.0
"""What a platform file says of the microkernel on that board: where components, frames and tables are.

The values are those of microkernel/board/; src/bulkhead/mxu/ makes the memory manager's books from them.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from bulkhead.config.quantity import Address, Bytes, problem
from bulkhead.config.timing import Section

ADDRESS_BITS = 32


class Place(Section):
    at: Address
    size: Bytes

    @property
    def end(self) -> int:
        return self.at + self.size


class Microkernel(Section):
    frames: Place  # memory that the memory manager gives away
    frame: Bytes  # a power of two
    code: Place  # of the memory manager; each further component has as much behind it
    slot: Place  # the same for stack and data: in its middle the stack ends and the data begin
    stack: Bytes  # of a component that does not say it
    manager: Bytes  # data of the memory manager, at the first frame
    tables: Annotated[int, Field(ge=0, le=1024)] = (
        0  # MMU: frames for each component's table nodes in plain memory
    )
    asids: Annotated[int, Field(ge=0, le=255)] = 0  # MMU: of components
    entries: tuple[
        Bytes, ...
    ] = ()  # MMU: sizes of the mappings that it makes, which are those that it can lock

    @model_validator(mode="after")
    def _shaped(self) -> Self:
        if self.frame & (self.frame - 1) or self.frame < 32:
            raise problem("geometry", f"a frame of {self.frame} bytes", "a power of two of 32 bytes at least")
        for place in (self.frames, self.slot):
            if place.at % self.frame or place.size % self.frame:
                raise problem("geometry", f"{place.at:#x} with {place.size} bytes is not of whole frames")
        if self.frames.end > 1 << ADDRESS_BITS:
            raise problem("out-of-range", "frames lie beyond 32 bits of address")
        if any(size & (size - 1) for size in self.entries):
            raise problem("geometry", "entries have sizes that are no powers of two")
        return self

    @property
    def data_most(self) -> int:
        """Bytes that a component's data can have, and its stack."""
        return self.slot.size // 2

    def slot_of(self, number: int) -> int:
        return self.slot.at + number * self.slot.size

    def stack_at(self, number: int, nbytes: int) -> int:
        return self.slot_of(number) + self.data_most - nbytes

    def data_at(self, number: int) -> int:
        return self.slot_of(number) + self.data_most
