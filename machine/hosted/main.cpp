// SPDX-License-Identifier: Apache-2.0
// hosted_run < request.json: one run, one process (machine/hosted/run.h, machine/request/request.h).
#include "machine/hosted/run.h"

int main()
{
    return bulkhead::machine::serve_request(bulkhead::machine::hosted::run_request);
}
