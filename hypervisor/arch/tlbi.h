/* SPDX-License-Identifier: Apache-2.0
 *
 * Every instruction with which EL1 invalidates its translations, once: TLBI of the Arm Architecture Reference
 * Manual (DDI 0487), C5.5; op0 = 1, op1 = 0, CRn = 8, or 9 for the nXS form. The trap handler decodes with
 * this table, and the target backend executes with it, so that they cannot differ.
 */
#ifndef BULKHEAD_TLBI_H
#define BULKHEAD_TLBI_H

/* X(name, CRm of the form for the own core, CRm inner shareable, CRm outer shareable, op2, operand) */
#define TLBI_FORMS(X)                                                                                        \
    X(VMALLE1, 7, 3, 1, 0, "xzr")                                                                            \
    X(VAE1, 7, 3, 1, 1, "%0")                                                                                \
    X(ASIDE1, 7, 3, 1, 2, "%0")                                                                              \
    X(VAAE1, 7, 3, 1, 3, "%0")                                                                               \
    X(VALE1, 7, 3, 1, 5, "%0")                                                                               \
    X(VAALE1, 7, 3, 1, 7, "%0")                                                                              \
    X(RVAE1, 6, 2, 5, 1, "%0")                                                                               \
    X(RVAAE1, 6, 2, 5, 3, "%0")                                                                              \
    X(RVALE1, 6, 2, 5, 5, "%0")                                                                              \
    X(RVAALE1, 6, 2, 5, 7, "%0")

enum tlbi_form {
#define TLBI_NAME(name, own, inner, outer, op2, operand) TLBI_##name,
    TLBI_FORMS(TLBI_NAME)
#undef TLBI_NAME
        TLBI_FORM_COUNT,
};

#endif
