// SPDX-License-Identifier: Apache-2.0
// machine_armv7 < request.json: one run, one process (machine/armv7/runner/run.h, machine/request/request.h).
#include "machine/armv7/runner/run.h"

int main()
{
    return bulkhead::machine::serve_request(bulkhead::machine::armv7::run_request);
}
