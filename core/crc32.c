/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * CRC-32, four bits at a time: a table of 64 bytes is fast enough for a few kilobytes that are checked once.
 */
#include "core/crc32.h"

uint32_t crc32_update(uint32_t crc, const void *data, size_t bytes)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
        0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    const uint8_t *next = data;

    crc = ~crc;
    /*@ loop invariant 0 <= i <= bytes;
        loop assigns i, crc;
        loop variant bytes - i; */
    for (size_t i = 0; i < bytes; i++) {
        crc ^= next[i];
        crc = (crc >> 4) ^ table[crc & 15u];
        crc = (crc >> 4) ^ table[crc & 15u];
    }
    return ~crc;
}
