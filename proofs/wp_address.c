/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives WP something to read core/address.h by: its inline functions and their contracts, and no code.
 */
#include "core/address.h"
