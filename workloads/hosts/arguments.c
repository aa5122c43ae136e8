// SPDX-License-Identifier: Apache-2.0
//
// Numbers are decimal or, after 0x, hexadecimal, and fit into 64 bits.
#include "workloads/hosts/arguments.h"

#include <stddef.h>

#include "workloads/driver.h"
#include "workloads/text.h"

static const char *name;
static char **parameters;
static int parameter_count;

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

static bool parse(const char *text, uint64_t *number)
{
    bool hexadecimal = text[0] == '0' && text[1] == 'x';
    unsigned base = hexadecimal ? 16 : 10;

    *number = 0;
    text += hexadecimal ? 2 : 0;
    if (*text == 0)
        return false;
    for (; *text != 0; text++) {
        unsigned digit = (unsigned)digit_of(*text);
        if (digit >= base || __builtin_mul_overflow(*number, base, number) ||
            __builtin_add_overflow(*number, digit, number))
            return false;
    }
    return true;
}

// The text after `NAME=`; NULL if the argument does not begin so.
static const char *value_of(const char *argument, const char *wanted)
{
    while (*wanted != 0 && *argument == *wanted) {
        argument++;
        wanted++;
    }
    return *wanted == 0 && *argument == '=' ? argument + 1 : NULL;
}

static bool is_parameter(const char *argument)
{
    uint64_t number;

    while (*argument != 0 && *argument != '=')
        argument++;
    return *argument == '=' && parse(argument + 1, &number);
}

bool arguments_take(int count, char **values)
{
    if (count < 2 || (!text_same(values[1], "all") && workload_find(values[1]) == NULL))
        return false;
    for (int i = 2; i < count; i++) {
        if (!is_parameter(values[i]))
            return false;
    }
    name = values[1];
    parameters = values + 2;
    parameter_count = count - 2;
    return true;
}

uint64_t arguments_number(const char *wanted, uint64_t fallback)
{
    uint64_t number = fallback;

    for (int i = 0; i < parameter_count; i++) {
        const char *value = value_of(parameters[i], wanted);
        if (value != NULL)
            (void)parse(value, &number);
    }
    return number;
}

bool arguments_run(void)
{
    bool all_prepared = true;

    for (int i = 0; workload_catalog[i] != NULL; i++) {
        if (text_same(name, "all") || text_same(name, workload_catalog[i]->name))
            all_prepared = workload_run(workload_catalog[i]) && all_prepared;
    }
    return all_prepared;
}
