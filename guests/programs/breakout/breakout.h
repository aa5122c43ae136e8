// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the program `breakout` share. An attempt is one way to break out, tried in steps; each
// step notes what became of it. A step may end the domain: then the next life notes that, and goes on behind
// it.
#ifndef BULKHEAD_BREAKOUT_H
#define BULKHEAD_BREAKOUT_H

#include <stdbool.h>
#include <stdint.h>

// What became of a try. Only the evidence that a step has may call it `through`.
enum outcome {
    OUTCOME_UNDEFINED,  // an undefined-instruction exception at EL1
    OUTCOME_FAULT,      // another exception at EL1, of the guest's own making
    OUTCOME_ENDED,      // the domain was ended, and started again
    OUTCOME_NO_EFFECT,  // it was executed, and nothing came of it
    OUTCOME_MASKED,     // a value that the hypervisor made up
    OUTCOME_EMULATED,   // a device that the hypervisor plays
    OUTCOME_OWN,        // state of the guest's own VCPU
    OUTCOME_ERROR_CODE, // a call was refused
    OUTCOME_COUNT,
};

struct attempt {
    const char *class;
    const char *name;
    uint32_t steps;
    void (*run)(uint32_t step);
    bool whole; // each step is taken, whatever the parameter `every` says
};

struct attempt_list {
    const struct attempt *attempts;
    uint32_t count;
};

// One list per class, by the file of that name.
extern const struct attempt_list attempts_memory, attempts_registers, attempts_instructions, attempts_calls,
    attempts_gic, attempts_devices, attempts_partitions, attempts_storms;

// Notes tries of the attempt that runs. Kept over the end of this life.
void note(enum outcome outcome, uint64_t count);

// Notes one try that got through; `evidence` is shown.
void note_through(uint64_t evidence);

// What a probe did, by the exception that it caused, if it did.
void note_caught(enum outcome if_none);

// --- exceptions (catch.c)

// From here on exceptions of this VCPU are noticed and skipped. Forgets earlier ones.
void catch_start(void);

// Until here. How many there were.
uint32_t catch_stop(void);

// Exception class (ESR_EL1.EC) of the last one.
uint32_t catch_class(void);

// --- addresses (aim.c)

enum aim { AIM_DEVICE, AIM_MEMORY };

// A virtual address that stage 1 translates to guest-physical `ipa`, below 2^48. Until the next call.
uint64_t aim(uint64_t ipa, enum aim as);

// --- partitions (partitions.c)

// The guest has virtual PARTIDs: it sees MPAM.
bool has_partitions(void);

// --- the other VCPU (second.c)

// Has the second VCPU call `work` until second_stop(). False: there is none.
bool second_start(void (*work)(void));
void second_stop(void);
bool second_is_told_to_stop(void);

// --- time

// Counter value at which a storm that begins now is over.
uint64_t storm_end(void);

#endif
