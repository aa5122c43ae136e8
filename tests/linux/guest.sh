# SPDX-License-Identifier: Apache-2.0
# The module in a domain with `pmu: true`: its counter is beside the hypervisor's. test_guest.py reads the answers.
# shellcheck shell=dash disable=SC2154
echo "bulkhead: ready"
say load
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
insmod /bulkhead.ko events=0x08 backup_events=8
say free
turns 0 0.2
put parameters "policy=static budgets=0:200000"
sleep 0.05
say limited
turns 0 0.3
say samples
grep '^0 ' $B/samples | tail -250
say removed
rmmod bulkhead
left
say complaints
dmesg | grep -E 'WARNING|BUG|Call trace|stall'
