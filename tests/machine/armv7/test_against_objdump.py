# SPDX-License-Identifier: Apache-2.0
"""Words that are instructions, and their names (A5): the decoder's tables compared with binutils'
disassembler.

All words of 16 bits, random words of 32 bits, and all instructions of the compiler's libraries. The
disassembler supports later architectures, too, and shows many unpredictable words, which the interpreter
treats as undefined: each such case is listed here.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir

ARCHITECTURES = {"t32": "armv7-a", "a32": "armv7-a", "m": "armv7e-m"}
RANDOM_WORDS = 12_000
FIRST_OF_TWO = 0xE800
UNDEFINED = "-"
MISSING = {"floating point", "Advanced SIMD", "coprocessor"}  # a class of words; not told apart further
NO_MORE = re.compile(r"undefined|unpredictable|^\.", re.IGNORECASE)
LINE = re.compile(r"\s+[0-9a-f]+:\t([0-9a-f ]+?)\s*\t(.*)")

# Names of the disassembler that differ from those of the tables; otherwise its name begins with the table's.
NAMES = {
    "MOV": ("mov", "lsl", "lsr", "asr", "ror", "rrx", "nop"),
    "LSL": ("lsl", "lsr", "asr", "ror"),
    "ADDW": ("add",),
    "SUBW": ("sub",),
    "ADD": ("add",),
    "ADR": ("add", "adr", "sub"),
    "RSB": ("rsb", "neg"),
    "LDR": ("ldr", "pop"),
    "STR": ("str", "push"),
    "LDM": ("ldm", "pop"),
    "STM": ("stm", "push"),
    "STMDB": ("stmdb", "push"),
    "LDM^": ("ldm",),
    "STM^": ("stm",),
    "NOP": ("nop", "yield", "dbg", "csdb", "esb", "sevl", "psb", "tsb", "pac", "bti", "aut", "clrbhb"),
    "SUBS PC, LR": ("subs", "eret"),
    "ThumbEE": ("enterx", "leavex"),
    "SETEND LE": ("setend",),
    "SETEND BE": ("setend",),
    "hint": ("pld", "pli", "ldrsh", "nop"),
    "DSB": ("dsb", "ssbb", "pssbb", "dfb"),
} | {name: (name[:-1].rstrip("xy").lower(),) for name in ("SMULxy", "SMLAxy", "SMLALxy", "SMULWy", "SMLAWy")}

# 16-bit words that the disassembler shows and the tables do not have.
UNPREDICTABLE_16 = re.compile(
    r"udf|hlt|setpan|bl?xns"  # undefined for ever, and v8
    r"|it[te]*\t(<und>|al)"
    r"|(stmia|ldmia|push|pop)\t.*\{\}|cps\w*\t$"  # nothing to do
    r"|(bx|blx|cmp|add)\t"  # with pc, low registers in the encoding of high ones, bits that must be 0
)
NOT_IN_V7M = re.compile(r"setend|cps\w*\ta")


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    ensure_built(["host"], ["armv7_decode_words"])


def decoded(instructions: str, words: Sequence[str]) -> list[str]:
    tool = build_dir() / "host/tests/machine/armv7/armv7_decode_words"
    text = "\n".join(words) + "\n"
    run = subprocess.run([tool, instructions], input=text, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def lines_of(object_file: Path) -> list[tuple[str, str]]:
    shown = subprocess.run(
        ["arm-none-eabi-objdump", "-d", str(object_file)], capture_output=True, text=True, check=True
    ).stdout
    found = (LINE.match(line) for line in shown.splitlines())
    return [(match[1].replace(" ", ""), match[2]) for match in found if match is not None]


def disassembled(directory: Path, instructions: str, words: Sequence[str]) -> list[str]:
    """The disassembler's output for each word. IT changes the output for the following four."""
    thumb = instructions != "a32"
    source = [".syntax unified", f".arch {ARCHITECTURES[instructions]}"]
    if instructions != "m":
        source += [".arch_extension idiv", ".arch_extension sec", ".arch_extension mp"]
    source.append(".thumb" if thumb else ".arm")
    for word in words:
        width = ("" if not thumb else ".n" if len(word) == 4 else ".w") + f" 0x{word}"
        source.append(f".inst{width}")
        if word.startswith("bf") and len(word) == 4:
            source += ["nop"] * 4
    (directory / "words.s").write_text("\n".join(source) + "\n")
    subprocess.run(
        ["arm-none-eabi-as", "-o", str(directory / "words.o"), str(directory / "words.s")],
        capture_output=True,
        check=True,
    )
    lines = iter(lines_of(directory / "words.o"))
    shown = []
    for word in words:
        found, text = next(lines)
        assert found == word
        shown.append(text)
        if word.startswith("bf") and len(word) == 4:
            for _ in range(4):
                next(lines)
    return shown


def told_apart(word: str, name: str) -> bool:
    """It has old coprocessors below 14, and does not know A32's memory hints without effect."""
    coprocessor = int(word, 16) >> 8 & 15
    transfer = name in {"MCR", "MRC", "MCRR", "MRRC"}
    hint_of_a32 = name == "hint" and word.startswith(("f4", "f6"))
    return name not in {UNDEFINED, *MISSING} and not (transfer and coprocessor < 14) and not hint_of_a32


def same(name: str, text: str) -> bool:
    return text.startswith(NAMES.get(name, (name.lower(),)))


@pytest.mark.req("A5")
@pytest.mark.parametrize("instructions", ["t32", "m"])
def test_all_words_of_16_bits_are_what_the_disassembler_says(tmp_path: Path, instructions: str) -> None:
    words = [f"{word:04x}" for word in range(FIRST_OF_TWO)]
    names = decoded(instructions, words)
    texts = disassembled(tmp_path, instructions, words)
    assert sum(name != UNDEFINED for name in names) > 0.95 * len(words)
    for word, name, text in zip(words, names, texts, strict=True):
        if name == UNDEFINED:
            known = NO_MORE.search(text) or UNPREDICTABLE_16.match(text)
            assert known or (instructions == "m" and NOT_IN_V7M.match(text)), (word, text)
        else:
            assert same(name, text) and not NO_MORE.search(text), (word, name, text)


@pytest.mark.req("A5")
@pytest.mark.parametrize("instructions", ARCHITECTURES)
def test_random_words_that_decode_are_what_the_disassembler_says(tmp_path: Path, instructions: str) -> None:
    random = Random(7)
    top = [0xE8, 0xF0, 0xF8] if instructions != "a32" else [0xE0, 0xE8, 0xF0, 0x00, 0x58, 0xA8]
    words = [f"{random.choice(top) << 24 | random.getrandbits(27):08x}" for _ in range(RANDOM_WORDS)]
    named = zip(words, decoded(instructions, words), strict=True)
    kept = [(word, name) for word, name in named if told_apart(word, name)]
    assert len(kept) > RANDOM_WORDS / 5
    texts = disassembled(tmp_path, instructions, [word for word, _ in kept])
    for (word, name), text in zip(kept, texts, strict=True):
        assert same(name, text) and not NO_MORE.search(text), (word, name, text)


@pytest.mark.req("A5")
@pytest.mark.parametrize(
    ("instructions", "compiled_for"),
    [
        ("m", ["-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=soft"]),
        ("t32", ["-mcpu=cortex-a9", "-mthumb", "-mfloat-abi=soft"]),
        ("a32", ["-march=armv5te", "-marm", "-mfloat-abi=soft"]),
    ],
)
def test_all_instructions_of_the_compilers_library_decode(instructions: str, compiled_for: list[str]) -> None:
    library = subprocess.run(
        ["arm-none-eabi-gcc", *compiled_for, "-print-file-name=libgcc.a"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    code = dict(line for line in lines_of(Path(library)) if not line[1].startswith((".", "@", "udf")))
    if instructions == "a32":
        code = {word: text for word, text in code.items() if len(word) == 8}
    assert len(code) > 1500
    for (word, text), name in zip(code.items(), decoded(instructions, list(code)), strict=True):
        assert name != UNDEFINED and (name in MISSING or same(name, text)), (word, name, text)
