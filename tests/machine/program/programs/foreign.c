// SPDX-License-Identifier: Apache-2.0
// A program that needs a symbol that does not exist.
int launch_rockets(int count);
int main(void);

int main(void)
{
    return launch_rockets(2);
}
