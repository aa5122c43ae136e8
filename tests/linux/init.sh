#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# The first program of the Linux in which the module is tested: makes the usual surroundings, runs /checks.sh,
# turns the machine off. What the checks need in common is here too.
/bin/busybox mkdir -p /bin /dev /proc /sys
/bin/busybox --install -s /bin
export PATH=/bin
mount -t devtmpfs devtmpfs /dev
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t debugfs debugfs /sys/kernel/debug
B=/sys/kernel/debug/bulkhead

# What follows is the answer to the question of this name.
say() { echo "@@ $1"; }

# Writes $2 into the file $1 of the module, in one piece; says what came of it.
put() {
    if answer=$(echo "$2" 2>&1 >"$B/$1"); then echo "taken"; else echo "refused: ${answer##*: }"; fi
}

# The value of a line name=value of the file $1.
value() { sed -n "s/^$2=//p" "$B/$1"; }

# What is left of the module, if it is not loaded.
left() {
    grep -q '^bulkhead ' /proc/modules && echo "the module"
    [ -e "$B" ] && echo "files"
    ps -o comm | grep -q '^bulkhead/' && echo "threads"
    echo "no more"
}

# Turns of a loop on CPU $1 within $2 seconds.
turns() {
    taskset "$((1 << $1))" sh -c 'i=0; trap "echo \$i; exit" TERM; while :; do i=$((i+1)); done' >/turns &
    sleep "$2"
    kill $!
    wait $!
    cat /turns
}

# A loop on CPU $1, until hush.
spin() {
    taskset "$((1 << $1))" sh -c 'while :; do :; done' &
    spinning=$!
}
hush() {
    kill "$spinning"
    wait "$spinning" 2>/dev/null
}

. /checks.sh
echo "@@"
sleep 0.5 # until all of that is out
poweroff -f
