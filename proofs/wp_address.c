/* SPDX-License-Identifier: Apache-2.0
 *
 * A source file from which WP reads core/address.h: its inline functions and their contracts, and no code.
 */
#include "core/address.h"
