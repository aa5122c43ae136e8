/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives WP something to read core/mxu_trie.h by: its inline functions and their contracts, and no code.
 */
#include "core/mxu_trie.h"
