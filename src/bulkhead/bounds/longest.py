# SPDX-License-Identifier: Apache-2.0
"""The longest path through a graph of blocks, by integer programming (implicit path enumeration).

The number of times that each edge is taken is a variable; a block is entered as often as it is left. For each
loop the caller states how often its head is executed for each entry of the loop. A loop without a bound is an
error.
"""

from collections.abc import Callable, Mapping

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from bulkhead.bounds.thumb import RETURN, Block, Function
from bulkhead.errors import BulkheadError


class NoBoundError(BulkheadError):
    """A loop for which no bound is given."""


def _back_edges(function: Function) -> set[tuple[int, int]]:
    """Edges to a block on the current path of a depth-first search."""
    back = set()
    done: set[int] = set()
    path: list[tuple[int, list[int]]] = [(function.entry, sorted(function.blocks[function.entry].next))]
    on_path = {function.entry}
    while path:
        at, left = path[-1]
        if not left:
            path.pop()
            on_path.discard(at)
            done.add(at)
            continue
        to = left.pop()
        if to == RETURN:
            continue
        if to in on_path:
            back.add((at, to))
        elif to not in done:
            path.append((to, sorted(function.blocks[to].next)))
            on_path.add(to)
    return back


def loop_heads(function: Function) -> list[int]:
    """The first blocks of loops, in the order of their addresses."""
    return sorted({to for _, to in _back_edges(function)})


def _instructions(block: Block) -> float:
    return block.instructions


def longest_path(
    function: Function, bounds: Mapping[int, int], cost_of: Callable[[Block], float] = _instructions
) -> int:
    """Instructions on the longest path, or the sum of `cost_of` on the costliest one.

    `bounds`: by a loop's head, the most executions for each entry.
    """
    back = _back_edges(function)
    missing = {to for _, to in back} - set(bounds)
    if missing:
        raise NoBoundError(f"{function.name}: the loop has no bound at {min(missing):x}")
    edges = [(at, to) for at, block in function.blocks.items() for to in sorted(block.next)]
    into = {at: np.array([float(to == at) for _, to in edges]) for at in function.blocks}
    out = {at: np.array([float(source == at) for source, _ in edges]) for at in function.blocks}
    rows = []
    for at in function.blocks:
        entered = float(at == function.entry)
        rows.append(LinearConstraint(out[at] - into[at], entered, entered))
    for head, bound in bounds.items():
        again = np.array([float(edge in back and edge[1] == head) for edge in edges])
        first = into[head] - again
        entered = float(head == function.entry)
        rows.append(LinearConstraint(again - (bound - 1) * first, -np.inf, (bound - 1) * entered))
    cost = sum(cost_of(function.blocks[at]) * out[at] for at in function.blocks)
    found = milp(-cost, constraints=rows, bounds=Bounds(0, np.inf), integrality=np.ones(len(edges)))
    if not found.success:
        raise NoBoundError(f"{function.name}: {found.message}")
    return round(-float(found.fun))
