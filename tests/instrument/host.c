// SPDX-License-Identifier: Apache-2.0
// Runs compare.c. With -DPAID it is the runtime of its instrumented build, which never grants any budget, so
// that each block takes the slow path, which overwrites all registers that a call may.
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

uint64_t compare_all(uint64_t seed);

#ifdef PAID
struct {
    int64_t budget;
    uint64_t fetches;
} machine_running = {0, 1}; // the bit of a core that never has a block

void machine_budget_spent(void);
void machine_fetch(uint16_t *missing);
void bulkhead_program_trapped(uint64_t code);

static inline void destroy_what_a_call_may(void)
{
    __asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n\tpcmpeqd %%xmm7, %%xmm7\n\tpcmpeqd %%xmm15, %%xmm15\n\t"
                     "movq $-1, %%rax\n\tmovq %%rax, %%rcx\n\tmovq %%rax, %%rdx\n\tmovq %%rax, %%rsi\n\t"
                     "movq %%rax, %%rdi\n\tmovq %%rax, %%r8\n\tmovq %%rax, %%r9\n\tcmpq $1, %%rax" ::
                         : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "xmm0", "xmm7", "xmm15", "cc");
}

void machine_budget_spent(void)
{
    machine_running.budget = 0;
    destroy_what_a_call_may();
}

void machine_fetch(uint16_t *missing)
{
    if (*missing != UINT16_MAX)
        __builtin_trap(); // not the word of any block
    destroy_what_a_call_may();
}

void bulkhead_program_trapped(uint64_t code)
{
    (void)code;
}

#define CALLBACK(name)                                                                                       \
    void name(void *at);                                                                                     \
    void name(void *at)                                                                                      \
    {                                                                                                        \
        (void)at;                                                                                            \
    }
CALLBACK(__tsan_read1)
CALLBACK(__tsan_read2)
CALLBACK(__tsan_read4)
CALLBACK(__tsan_read8)
CALLBACK(__tsan_read16)
CALLBACK(__tsan_write1)
CALLBACK(__tsan_write2)
CALLBACK(__tsan_write4)
CALLBACK(__tsan_write8)
CALLBACK(__tsan_write16)
CALLBACK(__tsan_init)
CALLBACK(machine_read1_waited)
CALLBACK(machine_read2_waited)
CALLBACK(machine_read4_waited)
CALLBACK(machine_read8_waited)
#endif

int main(void)
{
    uint64_t result = 0;
    for (uint64_t seed = 1; seed < 20; seed++)
        result = result * 17 + compare_all(seed);
    printf("%016" PRIx64 "\n", result);
    return 0;
}
