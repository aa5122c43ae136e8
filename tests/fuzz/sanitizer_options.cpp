// SPDX-License-Identifier: Apache-2.0
// What the address sanitizer of every fuzz target starts with: a machine is booted for each input, so
// allocations must be cheap. ASAN_OPTIONS in the environment still wins.
extern "C" const char *__asan_default_options();

extern "C" const char *__asan_default_options()
{
    return "malloc_context_size=0:quarantine_size_mb=1:detect_leaks=0";
}
