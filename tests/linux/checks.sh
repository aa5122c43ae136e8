# SPDX-License-Identifier: Apache-2.0
# All that is tried with the module in one boot; test_module.py reads the answers. It runs on CPU 1, so that CPU 0
# is free to be limited. An instruction is an event; all CPUs' are counted on each (docs/guide/linux.md).
# shellcheck shell=dash disable=SC2154
taskset -p 2 $$ >/dev/null
load="insmod /bulkhead.ko events=0x08 backup_events=8"
# Loads with parameters, in the quotes that the kernel wants around several words.
load_with() { $load "parameters=\"$1\"" ${2:+"$2"}; }
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent # its remarks about slow emulators

say refused-loads
while read -r arguments; do
    if error=$(eval "insmod /bulkhead.ko $arguments" 2>&1); then
        echo "$arguments: loaded"
        rmmod bulkhead
    else
        echo "$arguments: ${error##*: }; $(left | tr '\n' ' ')"
    fi
done <<'LOADS'
events=0x17
events=zebra
events=0x10000
events=
events=0x08,
events=0x08,0x08,0x08
events=0x08,0x08 backup_events=8
events=0x08 cpus=2
events=0x08 cpus=0-8
events=0x08 cpus=1-0
events=0x08 cpus=x
events=0x08 backup_events=4000000000
events=0x08 utilization=0x9010001
events=0x08 utilization=0xffffffffffffff00
events=0x08 utilization=0x9010000 utilization_bits=64
events=0x08 parameters=policy=dynamic
events=0x08 parameters=zebra=1
events=0x08 parameters=policy
events=0x08 parameters=interval_ns=1
events=0x08 parameters='"policy=static policy=none"'
events=0x08 parameters='"policy=static budgets=0:0"'
events=0x08 parameters='"policy=dynamic-bandwidth regulated=0"' 
events=0x08 slack_events=16
events=0x08,0x08 slack_events=-2
events=0x08,0x08 slack_events=33554432
events=0x08,0x08 slack_events=12501 parameters='"policy=static budgets=1:400000"'
LOADS

say load
$load
echo $(ls $B)
say parameters
cat $B/parameters
say threads
ps -o comm,stat | grep '^bulkhead/' | sort
say free
turns 0 0.5
say free-status
cat $B/status

say refused
before=$(cat $B/parameters)
while read -r file text; do
    answer=$(put "$file" "$text")
    [ "$(cat $B/parameters)" = "$before" ] || answer="$answer, and changed"
    echo "$file $text: $answer"
done <<'VALUES'
policy zebra
policy dynamic-bandwidth
policy 1
threshold_permille 0
threshold_permille 2001
threshold_permille -1
threshold_permille 80%
bandwidth_threshold_events 0
bandwidth_threshold_events 0x4000000000
step_permille 1000
hold never
interval_ns 99999
interval_ns 1000000001
interval_ns 18446744073709551616
floor_events 0
ceiling_events 0x40000000
regulated 2
regulated 0-8
regulated x
budgets 0:0
budgets 0:0x40000000
budgets 2:1000
budgets 0
budgets 0:1000,
budgets 0:1000,1:x
store_samples maybe
parameters policy=static interval_ns=1
parameters interval_ns=2000000 zebra=1
parameters policy=static policy=none
parameters policy=dynamic-bandwidth budgets=0:1000 regulated=0 floor_events=2000
parameters policy=dynamic-bandwidth budgets=0:1000 regulated=0 ceiling_events=500
parameters policy=dynamic-delay budgets=0:1000 regulated=0 delays_ps=0:1000 threshold_permille=1000
parameters policy=dynamic-delay budgets=0:1000 regulated=0 threshold_permille=50
parameters policy=dynamic-delay budgets=0:1000,1:1000 regulated=0,1 threshold_permille=50 delays_ps=0:1000
horizon_intervals 0
horizon_intervals 65536
delays_ps 2:1000
delays_ps 0:4294967296
delays_ps 0
parameters policy=static budgets=0:1000,1:1000 saturation_events=1500
parameters policy
VALUES
echo "long: $(put parameters "policy=static $(printf '%01024d' 0)")"
[ "$(cat $B/parameters)" = "$before" ] || echo "changed"
say refused-dynamic
dmesg -c >/dmesg
put policy dynamic
dmesg
say round-trip
put parameters "$before"
[ "$(cat $B/parameters)" = "$before" ] && echo "the same"

say static
put parameters "policy=static budgets=0:100000"
sleep 0.1
cat $B/samples >/dev/null
turns 0 0.5
say static-samples
grep '^0 ' $B/samples | tail -400
say static-status
cat $B/status
say twice
put budgets 0:200000
sleep 0.1
turns 0 0.5
say twice-samples
grep '^0 ' $B/samples | tail -400

# The change holds for both CPUs from the same interval on. Budgets that are far above what there is.
say atomic
put budgets 0:600001,1:600002
sleep 0.05
put parameters "interval_ns=2000000 budgets=0:1200001,1:1200002"
sleep 0.05
grep -E '60000[12]|120000[12]' $B/samples
put parameters "policy=none interval_ns=1000000"

# A CPU that delays the others by all of an interval has its floor, one that hardly delays them all that it can move.
say delay
put parameters "policy=dynamic-delay regulated=0 budgets=0:20000,1:unlimited threshold_permille=50 \
    bandwidth_threshold_events=400000 horizon_intervals=20 delays_ps=0:4000000000"
spin 0
sleep 0.15
put delays_ps 0:1
sleep 0.15
hush
say delay-samples
cat $B/samples
put policy none

say bandwidth
put parameters "policy=dynamic-bandwidth regulated=0 budgets=0:20000,1:unlimited \
    bandwidth_threshold_events=400000"
spin 0
sleep 0.3
hush
say bandwidth-samples
cat $B/samples
put policy none

say turns
put parameters "policy=dynamic-turns regulated=0,1 budgets=0:20000,1:20000"
sleep 0.1
put policy none
say turns-samples
cat $B/samples

# Packets that CPU 1 sends to itself are delivered by CPU 0's deferred work, also while CPU 0 is throttled.
say deferred
ifconfig lo 127.0.0.1 up
echo 1 >/sys/class/net/lo/queues/rx-0/rps_cpus
softirqs() { sed -n 's/^ *NET_RX: *\([0-9]*\) .*/\1/p' /proc/softirqs; }
put parameters "policy=static budgets=0:20000,1:unlimited"
spin 0
sleep 0.05
before=$(softirqs) held=$(value status cpu0.held_events) over=$(value status cpu0.overshoot_events)
throttled=$(value status cpu0.throttled_ns) periods=$(value status cpu0.periods)
ping -q -c 50 -i 0.002 127.0.0.1 | grep received
echo "softirqs=$(($(softirqs) - before))"
echo "held_events=$(($(value status cpu0.held_events) - held))"
echo "overshoot_events=$(($(value status cpu0.overshoot_events) - over))"
echo "throttled_ns=$(($(value status cpu0.throttled_ns) - throttled))"
echo "periods=$(($(value status cpu0.periods) - periods))"
hush
put policy none

# The memory controller is a piece of memory in which this script counts: so many of 1000 cycles are busy.
say utilization
device=/sys/bus/pci/devices/0000:00:01.0
echo 1 >$device/enable
memory=$(sed -n '3s/ .*//p' $device/resource)
rmmod bulkhead
$load utilization="$memory"
cycles=0 busy=0
feed() {
    for turn in $(seq 25); do
        cycles=$((cycles + 100000)) busy=$((busy + 100 * $1))
        devmem $((memory + 0x418)) 64 $((busy << 32 | cycles))
    done
}
put parameters "policy=dynamic regulated=0 interval_ns=5000000 budgets=0:500000"
spin 0
for permille in 900 300; do
    feed $permille
    echo "$permille: $(value status load_permille) $(value status global_events) $(value status unusable)"
done
# All that both CPUs do is traffic of the others, so their phase is always the highest.
say phases
put parameters "policy=dynamic-phases budgets=0:500000 bandwidth_threshold_events=1000"
for permille in 900 300; do
    feed $permille
    echo "$permille: $(value status load_permille) $(value status global_events) $(value status unusable)"
done
hush
rmmod bulkhead
$load

say drops
exec 3<$B/samples
head -c 4096 <&3 >/dev/null
sleep 1
cat <&3
exec 3<&-
say not-stored
put store_samples off
sleep 0.01
exec 3<$B/samples
cat <&3 >/dev/null
sleep 0.1
cat <&3
say stored
put store_samples on
sleep 0.1
cat <&3 | grep -c '^0 '
exec 3<&-

# A CPU goes and comes while it is limited and busy.
say hotplug
put parameters "policy=static budgets=1:unlimited,0:100000"
spin 0
sleep 0.1
for turn in 1 2 3; do
    echo 0 >/sys/devices/system/cpu/cpu0/online
    echo "$turn: $(value status cpu0.online) $(cat /sys/devices/system/cpu/online)"
    sleep 0.02
    echo 1 >/sys/devices/system/cpu/cpu0/online
    echo "$turn: $(value status cpu0.online) $(cat /sys/devices/system/cpu/online)"
done
hush
before=$(value status cpu0.throttled_periods)
turns 0 0.2
echo "throttled: $(($(value status cpu0.throttled_periods) - before))"

say removed
spin 0
sleep 0.05
rmmod bulkhead
left
hush
turns 0 0.5
say again
for turn in 1 2 3 4 5; do
    load_with "policy=static budgets=0:50000,1:2000000" || echo "not loaded"
    spin 0
    [ $turn = 5 ] || sleep 0.0$turn
    rmmod bulkhead || echo "not removed"
    hush
    left
done

# Less than the kernel's way back to a program: nothing but interrupts runs there any more.
say stuck
load_with "policy=static budgets=0:500"
spin 0
sleep 0.2
value status cpu0.throttled_periods
rmmod bulkhead
left
hush

# The kernel's own limit of real-time threads: a CPU that is throttled nearly always is not held all the time.
say rt-limit
load_with "policy=static budgets=0:10000"
spin 0
sleep 2.5
hush
cat $B/status
rmmod bulkhead

# Both counters count the same, so both overflow at once: the second one is the first one's backup. Cycles would
# go on while the CPU waits.
say sum
insmod /bulkhead.ko events=0x08,0x08 slack_events=64 cpus=0 'parameters="policy=static budgets=0:400000"'
sleep 0.1
turns 0 0.3
say sum-samples
grep '^0 ' $B/samples | tail -200
rmmod bulkhead
say measured
load_with "policy=static budgets=0:100000" keep_running=1
turns 0 0.3
cat $B/status
rmmod bulkhead

say dmesg
cat /dmesg
dmesg
