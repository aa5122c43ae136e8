// SPDX-License-Identifier: Apache-2.0
// For compilers that do not put static storage into separate sections.
#include "snapshot.h"

namespace bulkhead_fuzz {

bool Snapshot::possible()
{
    return false;
}

Snapshot::Snapshot() = default;

void Snapshot::restore() const {}

} // namespace bulkhead_fuzz
