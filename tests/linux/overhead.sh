# SPDX-License-Identifier: Apache-2.0
# What the module costs a program that it does not stop (`keep_running`): turns of a loop on CPU 0 in the same time
# without it, counting only, with its timer, and with an overflow in each interval besides. test_overhead.py compares.
# Only CPU 0 is the module's: under counted time the instructions of the other one would take time from the loop.
# shellcheck shell=dash disable=SC2154
taskset -p 2 $$ >/dev/null
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
with() {
    insmod /bulkhead.ko events=0x08 backup_events=8 cpus=0 keep_running=1 "parameters=\"$2\""
    sleep 0.1
    say "$1"
    turns 0 2
    say "$1-status"
    cat $B/status
    rmmod bulkhead
}
say without
turns 0 2
with count "policy=none"
with timer-1000 "policy=static budgets=0:1000000000 interval_ns=1000000"
with timer-500 "policy=static budgets=0:1000000000 interval_ns=500000"
with overflow-1000 "policy=static budgets=0:100000 interval_ns=1000000"
with overflow-500 "policy=static budgets=0:50000 interval_ns=500000"
say complaints
dmesg | grep -E 'WARNING|BUG|Call trace|stall'
