// SPDX-License-Identifier: Apache-2.0
//
// Contents of the requests and answers of `client` and `server`, so that each byte can be checked. A request
// begins with its number, the low byte first; the disk's answer is the block of the store with that number,
// the card's answer is the request.
#ifndef BULKHEAD_GUESTS_SERVER_MESSAGES_H
#define BULKHEAD_GUESTS_SERVER_MESSAGES_H

#include <stdint.h>

static inline uint8_t request_byte(uint64_t number, uint64_t index)
{
    return index < sizeof(number) ? (uint8_t)(number >> 8 * index) : (uint8_t)(number * 31 + index * 7);
}

static inline uint64_t message_number(const uint8_t *request, uint64_t bytes)
{
    uint64_t number = 0;

    for (uint32_t i = 0; i < sizeof(number) && i < bytes; i++)
        number |= (uint64_t)request[i] << 8 * i;
    return number;
}

// Byte `at` of the store; blocks follow one another.
static inline uint8_t store_byte(uint64_t at)
{
    return (uint8_t)(at * 7 + (at >> 8) * 3 + (at >> 16));
}

#endif
