/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of an ITS and those for LPIs of a redistributor, as offsets from its first frame (Arm IHI 0069,
 * chapters 12.11 and 12.19). The driver of the physical ITS and the virtual ITS use them.
 */
#ifndef BULKHEAD_ITS_REGISTERS_H
#define BULKHEAD_ITS_REGISTERS_H

#define GITS_CTLR    0x0000u
#define GITS_IIDR    0x0004u
#define GITS_TYPER   0x0008u
#define GITS_CBASER  0x0080u
#define GITS_CWRITER 0x0088u
#define GITS_CREADR  0x0090u
#define GITS_BASER   0x0100u

#define GITS_CTLR_ENABLED   (1u << 0)
#define GITS_CTLR_QUIESCENT (1u << 31)

#define GICR_CTLR      0x0000u
#define GICR_TYPER     0x0008u
#define GICR_PROPBASER 0x0070u
#define GICR_PENDBASER 0x0078u

#define GICR_CTLR_LPIS (1u << 0) /* EnableLPIs */

#endif
