/* SPDX-License-Identifier: Apache-2.0
 *
 * MPAM state of a domain and of a VCPU (mpam_labels.h).
 */
#ifndef BULKHEAD_MPAM_STATE_H
#define BULKHEAD_MPAM_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* Of a domain; constant after the start. */
struct mpam_domain {
    /* MPAM1_EL1 and MPAM0_EL1 while one of its VCPUs has the core; 0: MPAM is not used. */
    uint64_t label;
    uint32_t first_partid;
    uint32_t virtual_count; /* number of virtual PARTIDs; 0: the guest sees no MPAM */
    bool apart;             /* a domain on one of its cores has virtual PARTIDs: traps are switched, too */
};

/* Of a VCPU with virtual PARTIDs: its registers while another VCPU has the core. */
struct mpam_guest {
    uint64_t mpam1;
    uint64_t mpam0;
};

#endif
