// SPDX-License-Identifier: Apache-2.0
//
// Calls of EL2, once in the program's text: all calls save and restore many registers.
#include "guests/programs/broker/broker.h"

void broker_call_all(uint64_t x[CALL_REGISTERS])
{
    cpu_hypervisor_call_all(x);
}

uint64_t broker_call(uint64_t function, uint64_t x1, uint64_t x2, uint64_t x3, uint64_t x4)
{
    uint64_t x[CALL_REGISTERS] = {function, x1, x2, x3, x4};

    broker_call_all(x);
    return x[0];
}
