// SPDX-License-Identifier: Apache-2.0
//
// Declarations shared by the parts of the program `breakout`. An attempt is one way to break out, tried in
// steps; each step notes its outcome. A step may end the domain: then the next life notes that, and continues
// with the next step.
#ifndef BULKHEAD_BREAKOUT_H
#define BULKHEAD_BREAKOUT_H

#include <stdbool.h>
#include <stdint.h>

// Outcome of a try. A step may note `through` only with its evidence.
enum outcome {
    OUTCOME_UNDEFINED,  // an undefined-instruction exception at EL1
    OUTCOME_FAULT,      // another exception at EL1, taken by the guest itself
    OUTCOME_ENDED,      // the domain was ended, and started again
    OUTCOME_NO_EFFECT,  // it was executed, without any effect
    OUTCOME_MASKED,     // a value that the hypervisor supplied
    OUTCOME_EMULATED,   // a device that the hypervisor emulates
    OUTCOME_OWN,        // state of the guest's own VCPU
    OUTCOME_ERROR_CODE, // a call was refused
    OUTCOME_COUNT,
};

struct attempt {
    const char *class;
    const char *name;
    uint32_t steps;
    void (*run)(uint32_t step);
    bool whole; // no step is left out, whatever the parameter `every` is
};

struct attempt_list {
    const struct attempt *attempts;
    uint32_t count;
};

// One list for each class, in the file of that name.
extern const struct attempt_list attempts_memory, attempts_registers, attempts_instructions, attempts_calls,
    attempts_gic, attempts_devices, attempts_partitions, attempts_storms;

// Notes the outcome of tries of the current attempt. Kept across the end of this life.
void note(enum outcome outcome, uint64_t count);

// Notes one try that got through; `evidence` is printed.
void note_through(uint64_t evidence);

// Notes the result of a probe by the exception that it caused, if any.
void note_caught(enum outcome if_none);

// --- exceptions (catch.c)

// From here on exceptions of this VCPU are counted and skipped. Resets the count.
void catch_start(void);

// Ends this. Returns the number of exceptions.
uint32_t catch_stop(void);

// Exception class (ESR_EL1.EC) of the last one.
uint32_t catch_class(void);

// --- addresses (aim.c)

enum aim { AIM_DEVICE, AIM_MEMORY };

// A virtual address that stage 1 translates to guest-physical `ipa`, below 2^48. Valid until the next call.
uint64_t aim(uint64_t ipa, enum aim as);

// --- partitions (partitions.c)

// The guest has virtual PARTIDs: MPAM is visible to it.
bool has_partitions(void);

// --- the other VCPU (second.c)

// Makes the second VCPU call `work` until second_stop(). False: there is none.
bool second_start(void (*work)(void));
void second_stop(void);
bool second_is_told_to_stop(void);

// --- time

// Counter value at which a storm that begins now ends.
uint64_t storm_end(void);

#endif
