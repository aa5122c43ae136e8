// SPDX-License-Identifier: Apache-2.0
// Default options of the address sanitizer of every fuzz target: allocations and comparisons of a machine's
// state must be cheap. ASAN_OPTIONS in the environment takes precedence.
extern "C" const char *__asan_default_options();

extern "C" const char *__asan_default_options()
{
    return "malloc_context_size=0:quarantine_size_mb=1:detect_leaks=0:intercept_memcmp=0";
}
