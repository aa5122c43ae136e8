/* SPDX-License-Identifier: Apache-2.0
 *
 * Bit patterns of the instructions that access memory; the first match applies.
 */
#include "microkernel/arch/armv7m/access.h"

static const struct {
    uint16_t mask;
    uint16_t value;
    enum violation_access access;
} pattern[] = {
    {0xFE00, 0x5600, ACCESS_READ},  /* LDRSB register */
    {0xF800, 0x5800, ACCESS_READ},  /* LDR, LDRH, LDRB, LDRSH register */
    {0xF000, 0x5000, ACCESS_WRITE}, /* STR, STRH, STRB register */
    {0xF800, 0x4800, ACCESS_READ},  /* LDR literal */
    {0xF800, 0x6000, ACCESS_WRITE}, /* immediate offset: word, byte, halfword, relative to SP */
    {0xF800, 0x6800, ACCESS_READ},  {0xF800, 0x7000, ACCESS_WRITE}, {0xF800, 0x7800, ACCESS_READ},
    {0xF800, 0x8000, ACCESS_WRITE}, {0xF800, 0x8800, ACCESS_READ},  {0xF800, 0x9000, ACCESS_WRITE},
    {0xF800, 0x9800, ACCESS_READ},  {0xFE00, 0xB400, ACCESS_WRITE}, /* PUSH */
    {0xFE00, 0xBC00, ACCESS_READ},                                  /* POP */
    {0xF800, 0xC000, ACCESS_WRITE},                                 /* STM */
    {0xF800, 0xC800, ACCESS_READ},                                  /* LDM */
    {0xFE10, 0xE800, ACCESS_WRITE}, /* 32-bit encodings: multiple, dual, exclusive */
    {0xFE10, 0xE810, ACCESS_READ},  {0xFE10, 0xF800, ACCESS_WRITE}, /* 32-bit encodings: single */
    {0xFE10, 0xF810, ACCESS_READ},
};

enum violation_access thumb_access(uint16_t first)
{
    for (uint32_t i = 0; i < sizeof pattern / sizeof pattern[0]; i++) {
        if ((first & pattern[i].mask) == pattern[i].value) {
            return pattern[i].access;
        }
    }
    return ACCESS_DATA;
}
