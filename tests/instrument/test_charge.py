# SPDX-License-Identifier: Apache-2.0
"""Instrumented programs count their instructions (issue 4, S1): what the build step puts into assembly."""

import re
import subprocess
from pathlib import Path

import pytest

from instrument.charge import Refusal, instrument

ROOT = Path(__file__).parents[2]
FLAGS = re.findall(
    r"^    (-.*?)\)?$",
    (ROOT / "cmake/instrumented.cmake")
    .read_text()
    .split("set(BULKHEAD_INSTRUMENTED_FLAGS")[1]
    .split("function(")[0],
    re.M,
)


def compiled(source: str, tmp_path: Path) -> str:
    (tmp_path / "one.c").write_text(source)
    flags = " ".join(FLAGS).split()
    subprocess.run(["gcc", *flags, "-S", "-o", "one.s", "one.c"], cwd=tmp_path, check=True)
    return (tmp_path / "one.s").read_text()


def function(body: str) -> str:
    lines = "".join(f"{line}\n" if line.endswith(":") else f"\t{line}\n" for line in body.split("; "))
    return f"\t.text\n\t.type\tf, @function\nf:\n{lines}\t.size\tf, .-f\n"


def prices(body: str) -> list[int]:
    text = instrument(function(body))
    return [
        int(price)
        for price in re.findall(r"subq\t\$(\d+), \(%r11\)|leaq\t-(\d+)\(%r10\)", text)
        for price in price
        if price
    ]


def test_every_block_pays_for_its_instructions() -> None:
    assert prices("movl %edi, %eax; testl %eax, %eax; je .L2; addl $1, %eax; .L2:; addl $2, %eax; ret") == [
        3,
        1,
        2,
    ]


def test_what_only_the_callback_needs_is_free() -> None:
    body = "leaq 8(%rbx), %rdi; movl %esi, %ecx; call *__tsan_read4@GOTPCREL(%rip); movl 8(%rbx), %eax; ret"
    assert prices(body) == [3]  # movl, movl, ret


def test_registers_saved_for_callbacks_alone_are_free() -> None:
    saved = "pushq %rbx; movq %rdi, %rbx; movq %rbx, %rdi; call *{}@GOTPCREL(%rip); movl (%rbx), %eax"
    saved += "; popq %rbx; ret"
    assert prices(saved.format("__tsan_read4")) == [2]
    assert prices(saved.format("somebody")) == [7]


def test_an_atomic_is_an_instruction() -> None:
    body = "movq %rbx, %rdi; movl $5, %esi; call *__tsan_atomic32_load@GOTPCREL(%rip); ret"
    assert prices(body) == [2]


def test_flags_that_are_read_later_are_left_alone() -> None:
    """There are three ways out of one comparison: the second block has only a jump that reads its flags."""
    text = instrument(function("cmpl %esi, %edi; jl .L1; je .L2; movl $1, %eax; ret; .L1:; ret; .L2:; ret"))
    second = text.split("jl\t.L1" if "jl\t.L1" in text else "jl .L1")[1].split("je .L2")[0]
    assert "leaq\t-1(%r10)" in second
    assert "subq" not in second


def test_a_loop_whose_flags_are_read_keeps_them_on_the_stack() -> None:
    text = instrument(function("cmpl %esi, %edi; .L1:; jne .L1; ret"))
    loop = text.split(".L1:\n")[1]
    assert loop.index("pushfq") < loop.index("subq") < loop.index("popfq") < loop.index("jne .L1")


def test_payment_goes_where_flags_are_free() -> None:
    """It goes after the set, which reads flags, and before the comparison, which makes new ones."""
    text = instrument(function("cmpl %esi, %edi; jl .L1; sete %al; cmpl $3, %edx; jl .L1; ret; .L1:; ret"))
    assert text.index("sete") < text.index("subq\t$3")


def test_a_block_asks_whether_it_must_be_fetched_and_says_how_long_it_is() -> None:
    """S7: each block has a word of its own, in the order of the lengths."""
    text = instrument(function("movl $1, %eax; cmpl %esi, %edi; jl .L1; movl $2, %eax; ret; .L1:; ret"))
    words = [int(place) for place in re.findall(r"testw\t%r10w, \.Lmissing\+(\d+)\(%rip\)", text)]
    lengths = [int(length) for length in re.findall(r"\.long\t(\d+)", text.split(".machine_blocks")[1])]
    assert (words, lengths) == ([0, 2, 4], [3, 2, 1])
    assert "\t.fill\t3, 2, -1\n" in text.split(".machine_missing")[1], "nothing was fetched yet"
    assert "\t.zero\t24\n" in text.split(".machine_text")[1], "six instructions of the target"


def test_what_has_no_code_has_no_sections_of_it() -> None:
    assert "machine_blocks" not in instrument("\t.data\none:\n\t.long\t1\n")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('\t.section\t.init_array,"aw"\n', "constructors"),
        ('\t.section\t.tbss,"awT"\n', "thread-local"),
        (function("movq %r11, %rax; ret"), "register"),
    ],
)
def test_what_cannot_work_is_refused(text: str, why: str) -> None:
    with pytest.raises(Refusal, match=why):
        instrument(text)


WALKS = """
struct node { struct node *next; long value; };
long walk(struct node *n) { long s = 0; while (n) { s += n->value; n = n->next; } return s; }
long gather(const long *a, const int *b, int n)
{ long s = 0; for (int i = 0; i < n; i++) s += a[b[i]]; return s; }
long plain(const long *a, int n) { long s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
"""


def test_loads_whose_value_is_an_address_are_waited_for(tmp_path: Path) -> None:
    text = instrument(compiled(WALKS, tmp_path))
    loads = {
        name: re.findall(r"(__tsan_read\d|machine_read\d_waited)", part.split(".size")[0])
        for name, part in re.findall(r"^(walk|gather|plain):\n(.*?)\.size", text, re.M | re.S)
    }
    assert loads == {
        "walk": ["__tsan_read8", "machine_read8_waited"],
        "gather": ["machine_read4_waited", "__tsan_read8"],
        "plain": ["__tsan_read8"],
    }


def test_code_computes_the_same_with_payment(tmp_path: Path) -> None:
    """Flags and registers survive in a program of many comparisons, with a budget that is always spent."""
    source = (ROOT / "tests/instrument/compare.c").read_text()
    paid = instrument(compiled(source, tmp_path))
    (tmp_path / "paid.s").write_text(paid)
    (tmp_path / "host.c").write_text((ROOT / "tests/instrument/host.c").read_text())
    subprocess.run(["gcc", "-O2", "-o", "plain", "host.c", "one.c"], cwd=tmp_path, check=True)
    entry = ROOT / "machine/program/program_entry/x86_64.S"
    subprocess.run(
        ["gcc", "-O2", "-DPAID", "-o", "paid", "host.c", "paid.s", entry], cwd=tmp_path, check=True
    )
    plain = subprocess.run([tmp_path / "plain"], check=True, capture_output=True, text=True).stdout
    with_payment = subprocess.run([tmp_path / "paid"], check=True, capture_output=True, text=True).stdout
    assert with_payment == plain
    assert plain.count("\n") == 1
