# SPDX-License-Identifier: Apache-2.0
"""Physical memory of the emulated machine, fetched by QMP and read by frame.

Used for the statistics pages, while the machine runs and at its end, and at the end for the pool with the
tables. Frames that were not fetched cannot be read; so the table witness notices a table outside of the pool.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bulkhead.run.emulator import EmulatorError, RunningEmulator

FRAME_BYTES = 4096
_JOINED_GAP = 1 << 20  # frames with smaller gaps are fetched together, including what lies between

Words = NDArray[np.uint64]


@dataclass
class MemoryImage:
    """The contents of some frames, by physical address."""

    frames: dict[int, Words] = field(default_factory=dict)

    def read_frame(self, pa: int) -> Words | None:
        return self.frames.get(pa)

    def bytes_at(self, pa: int) -> bytes | None:
        frame = self.frames.get(pa)
        return None if frame is None else frame.tobytes()


def pieces(frames: Iterable[int], gap: int = _JOINED_GAP) -> list[range]:
    """A small number of address ranges that cover all frames."""
    found: list[range] = []
    for pa in sorted(set(frames)):
        if found and pa - found[-1].stop < gap:
            found[-1] = range(found[-1].start, pa + FRAME_BYTES)
        else:
            found.append(range(pa, pa + FRAME_BYTES))
    return found


async def fetch(emulator: RunningEmulator, frames: Iterable[int], scratch: Path) -> MemoryImage:
    """Read the frames of the machine, running or stopped. `scratch`: path of a temporary file. Raises
    EmulatorError."""
    wanted = set(frames)
    image = MemoryImage()
    try:
        for piece in pieces(wanted):
            await emulator.command(
                "pmemsave", {"val": piece.start, "size": len(piece), "filename": str(scratch.absolute())}
            )
            words = np.fromfile(scratch, dtype="<u8")
            if words.nbytes != len(piece):
                raise EmulatorError(
                    f"the emulator saved {words.nbytes} bytes of memory instead of {len(piece)}"
                )
            for index, frame in enumerate(words.reshape(-1, FRAME_BYTES // 8)):
                if (pa := piece.start + index * FRAME_BYTES) in wanted:
                    image.frames[pa] = frame
    finally:
        scratch.unlink(missing_ok=True)
    return image
