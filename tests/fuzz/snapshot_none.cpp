// SPDX-License-Identifier: Apache-2.0
// Where static storage is not set apart by the compiler.
#include "snapshot.h"

namespace bulkhead_fuzz {

bool Snapshot::possible()
{
    return false;
}

Snapshot::Snapshot() = default;

void Snapshot::restore() const {}

} // namespace bulkhead_fuzz
