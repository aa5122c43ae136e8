# SPDX-License-Identifier: Apache-2.0
"""Expected results of the applications of microkernel/programs/apps, by other means: Python's sqlite3,
Python's numbers for JavaScript's, NumPy for the network.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Array = NDArray[np.int64]
WORD = 0xFFFFFFFF


def random_words(seed: int) -> Iterator[int]:
    """app_random() of app.h."""
    while True:
        seed = (seed * 1664525 + 1013904223) & WORD
        yield seed


def checksum(values: Iterator[int] | list[int], total: int = 0) -> int:
    for value in values:
        total = (total * 31 + value) & WORD
    return total


def sqlite_result(rows: int) -> dict[str, int]:
    """The fields of sqlite.c."""
    with sqlite3.connect(":memory:", isolation_level=None) as database:
        run = database.execute
        run("CREATE TABLE measured (id INTEGER PRIMARY KEY, value INTEGER, text TEXT)")
        for number in range(rows):
            run("INSERT INTO measured VALUES (?, ?, ?)", (number, number * 13 % 1009, f"row {number * 7}"))
        deleted = sum(
            run("DELETE FROM measured WHERE id = ?", (number,)).rowcount for number in range(0, rows, 3)
        )
        change = "UPDATE measured SET value = value * 2 + 1 WHERE id = ?"
        updated = sum(run(change, (number,)).rowcount for number in range(1, rows, 3))
        selected = [
            run("SELECT value, text FROM measured WHERE id = ?", (number,)).fetchone()
            for number in range(2, rows, 3)
        ]
        left = run("SELECT id, value, text FROM measured ORDER BY id").fetchall()
        return {
            "rows": rows,
            "deleted": deleted,
            "updated": updated,
            "selected": len(selected),
            "selected_checksum": checksum([byte for row in selected for byte in (row[0], *row[1].encode())]),
            "left_checksum": checksum([byte for row in left for byte in (*row[:2], *row[2].encode())]),
            "deleted_last": run("DELETE FROM measured").rowcount,
        }


def mandelbrot(side: int, most: int) -> int:
    """The sum of mandelbrot.js."""
    total = 0
    for row in range(side):
        for column in range(side):
            real, imaginary = 2.0 * column / side - 1.5, 2.0 * row / side - 1.0
            at_real = at_imaginary = 0.0
            n = 0
            while n < most and at_real * at_real + at_imaginary * at_imaginary <= 4.0:
                at_real, at_imaginary = (
                    at_real * at_real - at_imaginary * at_imaginary + real,
                    2.0 * at_real * at_imaginary + imaginary,
                )
                n += 1
            total += n
    return total


def covariance(count: int) -> float:
    """The value of covariance.js: the same operations in the same order, so the same bits."""
    first, second, state = [], [], 1
    for _ in range(count):
        state = state * 16807 % 2147483647
        first.append(state / 2147483647)
        state = state * 16807 % 2147483647
        second.append(first[-1] / 2 + state / 2147483647)
    first_mean, second_mean, total = _mean(first), _mean(second), 0.0
    for one, other in zip(first, second, strict=True):
        total += (one - first_mean) * (other - second_mean)
    return total / (count - 1)


def _mean(values: list[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


LAYERS = ((3, 32, 9), (32, 32, 10), (32, 64, 10))  # channels, filters, shift
CLASSES, FEATURES = 10, 4 * 4 * 64


def cnn_checksum(runs: int, seed: int) -> int:
    """The field of cnn.c."""
    words = random_words(seed)
    network = [
        (_weights(words, filters, 5, 5, channels), _weights(words, filters))
        for channels, filters, _ in LAYERS
    ]
    connected = _weights(words, CLASSES, FEATURES)
    total = 0
    for _ in range(runs):
        plane = _image(words)
        for (weight, bias), (_, _, shift) in zip(network, LAYERS, strict=True):
            plane = _pooled(_convolved(plane, weight, bias, shift))
        total = checksum([checksum([int(score) for score in connected @ plane.reshape(-1)])], total)
    return total


def _weights(words: Iterator[int], *shape: int) -> Array:
    count = int(np.prod(shape))
    return np.array([(next(words) >> 24) - 128 for _ in range(count)], dtype=np.int64).reshape(shape)


def _image(words: Iterator[int]) -> Array:
    row, column, color = np.indices((32, 32, 3))
    noise = np.array([next(words) >> 27 for _ in range(row.size)], dtype=np.int64).reshape(row.shape)
    image: Array = (row * (1 + color) + column * (3 - color) + noise) % 128
    return image


def _convolved(plane: Array, weight: Array, bias: Array, shift: int) -> Array:
    windows = sliding_window_view(np.pad(plane, ((2, 2), (2, 2), (0, 0))), (5, 5), axis=(0, 1))
    sums = np.einsum("yxcij,fijc->yxf", windows, weight) + bias * 64
    plane = np.clip((sums + (1 << (shift - 1))) >> shift, 0, 127)
    return np.asarray(plane, dtype=np.int64)


def _pooled(plane: Array) -> Array:
    windows = sliding_window_view(np.pad(plane, ((0, 1), (0, 1), (0, 0))), (3, 3), axis=(0, 1))
    return np.asarray(windows[::2, ::2].max(axis=(3, 4)), dtype=np.int64)


def pattern_checksum(pattern: int, nbytes: int, accesses: int, rows: int, seed: int) -> int:
    """The field of patterns.c."""
    words = nbytes // 4
    source = random_words(seed)
    data = [next(source) >> 16 if pattern != 2 or i % 1024 < 16 else 0 for i in range(words)]
    if pattern == 3:
        right = np.array(data[: 128 * 128], dtype=np.int64).reshape(128, 128)
        left = np.array(data[128 * 128 : 128 * (128 + rows)], dtype=np.int64).reshape(rows, 128)
        return checksum([int(element) for element in (left @ right).reshape(-1)])
    chosen = random_words(seed)
    indices: dict[int, Callable[[int], int]] = {
        0: lambda n: n % words,
        1: lambda _n: next(chosen) * words >> 32,
        2: lambda n: (n // 16 * 1024 + n % 16) % words,
    }
    return checksum([data[indices[pattern](n)] for n in range(accesses)])
