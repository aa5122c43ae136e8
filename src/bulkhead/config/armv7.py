# SPDX-License-Identifier: Apache-2.0
"""Keys of a platform file for boards with 32-bit Arm cores, whose images the simulated machine runs.

They are costs of exceptions, the interrupt controller of Armv7-M, and the devices that the microkernel uses.
machine/armv7.py turns them into a request.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bulkhead.config.quantity import Address, Hertz, problem
from bulkhead.config.timing import Cycles, Section

MOST_INTERRUPTS = 240  # most interrupts of an NVIC
TIMERS = ("cmsdk-timer", "stm32-timer", "mpcore")  # mpcore: the private region of a Cortex-A9
MAY_BE_CLOCKED = ("stm32-usart",)


class ExceptionCosts(Section):
    """Costs of exceptions on Armv7-M, beside the accesses to stack and vector; accesses that hit cost nothing
    more."""

    entry: Cycles  # to the first instruction of the handler
    exit: Cycles  # from the return to the next instruction
    tail_chain: Cycles  # from the end of a handler to the next handler, instead of exit and entry


class Nvic(Section):
    interrupts: Annotated[int, Field(ge=1, le=MOST_INTERRUPTS)]
    priority_bits: Annotated[int, Field(ge=3, le=8)]


class Peripheral(Section):
    """A device of the board that the microkernel uses."""

    type: Literal[
        "cadence-uart",
        "cmsdk-uart",
        "cmsdk-timer",
        "mpcore",
        "pl310",
        "stm32-usart",
        "stm32-timer",
        "stm32-rcc",
    ]
    at: Address
    interrupt: Annotated[int, Field(ge=0, lt=MOST_INTERRUPTS)] = (
        0  # of the interrupt controller; for a UART: raised by received data
    )
    clock: Hertz | None = (
        None  # of a timer; of an stm32-usart: it sends at its real speed [sending takes no time]
    )

    @model_validator(mode="after")
    def _clocked(self) -> Self:
        clocked = self.clock is not None
        if clocked != (self.type in TIMERS) and not (clocked and self.type in MAY_BE_CLOCKED):
            raise problem(
                "conflict", f"{self.type} with `clock` {self.clock}", "a clock that no other timer has"
            )
        return self
