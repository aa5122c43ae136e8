// SPDX-License-Identifier: Apache-2.0
// A program that needs what nobody has.
int launch_rockets(int count);
int main(void);

int main(void)
{
    return launch_rockets(2);
}
