/* SPDX-License-Identifier: Apache-2.0
 *
 * What MPAM keeps of domains and VCPUs (mpam_labels.h).
 */
#ifndef BULKHEAD_MPAM_STATE_H
#define BULKHEAD_MPAM_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* Of a domain, from the start on. */
struct mpam_domain {
    uint64_t
        label; /* MPAM1_EL1 and MPAM0_EL1 while one of its VCPUs has the core; 0: requests have no label */
    uint32_t first_partid;
    uint32_t virtual_count; /* of PARTIDs that its guest numbers itself; 0: it sees no MPAM */
    bool apart;             /* it or one on a core of its has virtual ones: traps are switched, too */
};

/* Of a VCPU with virtual PARTIDs: its registers, while another one has the core. */
struct mpam_guest {
    uint64_t mpam1;
    uint64_t mpam0;
};

#endif
