#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for the emulator in tests: speaks QMP, writes a scripted serial line, misbehaves on request.

The scenario is the JSON file given as `-kernel`: a list of steps [action, argument]. Memory is zero except
for the "memory" of the scenario (address -> hex bytes). With a "clock" (text), EL2 answers with it when it is
asked for the time; the first "unheard" questions are lost. "qom" has the children of objects. Input on the
channel `lines` is written to "told", and lines that are connected to "wired".
"""

import json
import os
import select
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

arguments = sys.argv[1:]


def option(name: str, start: str = "") -> str:
    values = [arguments[i + 1] for i, a in enumerate(arguments) if a == name]
    return next(v for v in values if v.startswith(start))


def channel(name: str) -> socket.socket:
    parts = dict(p.split("=") for p in option("-chardev", f"socket,id={name}").split(",") if "=" in p)
    return socket.socket(fileno=int(parts["fd"]))


with Path(option("-kernel")).open() as file:
    scenario = json.load(file)
steps = list(scenario["steps"])
if steps and steps[0][0] == "killed-at-start":
    os.kill(os.getpid(), signal.SIGKILL)
if steps and steps[0][0] == "bad-start":
    sys.stderr.write(steps[0][1])
    sys.exit(1)

serial, control = channel("serial"), channel("control")
deaf = False
buffer = ""


def send(message: dict[str, Any]) -> None:
    control.sendall(json.dumps(message).encode() + b"\r\n")


def memory(start: int, size: int) -> bytes:
    data = bytearray(size)
    for address, text in scenario.get("memory", {}).items():
        at, content = int(address, 16) - start, bytes.fromhex(text)
        if 0 <= at < size:
            data[at : at + len(content)] = content
    return bytes(data[:size])


def answer(command: dict[str, Any]) -> Any:
    name, given = command["execute"], command.get("arguments", {})
    if name == "query-version":
        return {"qemu": {"major": 10, "minor": 0, "micro": 2}, "package": "fake"}
    if name == "pmemsave":
        with Path(given["filename"]).open("wb") as out:
            out.write(memory(given["val"], given["size"]))
    if name == "human-monitor-command":
        at = int(given["command-line"].removeprefix("xp /1wx "), 16)
        return f"{at:016x}: 0x{int.from_bytes(memory(at, 4), 'little'):08x}\r\n"
    if name == "qom-set":
        with Path(scenario["wired"]).open("a") as out:
            out.write(f"{given['path']} {given['property']} {given['value']} {running}\n")
    if name == "qom-list":
        return scenario.get("qom", {}).get(given["path"], [])
    if name == "qom-get":
        return 192
    return {}


def take_lines(lines: socket.socket, told: str) -> None:
    with Path(told).open("w") as out:
        while order := lines.recv(1000):
            out.write(order.decode())
            out.flush()
            lines.sendall(b"OK\n")


def tell_time() -> None:
    asked = serial.recv(100)
    if asked != b"\x1dt":
        sys.exit(f"asked for the time by {asked!r}")
    if scenario.get("unheard", 0) > 0:
        scenario["unheard"] -= 1
        return
    serial.sendall(f"[bulkhead {scenario['clock']:>10}] this is the time\r\n".encode())


def serve(timeout: float) -> None:
    """Answers requests that come within `timeout` s."""
    global buffer, running
    end = time.monotonic() + timeout
    heard = [control, serial] if "clock" in scenario else [control]
    while True:
        ready, _, _ = select.select(heard, [], [], max(0, end - time.monotonic()))
        if not ready:
            return
        if serial in ready:
            tell_time()
        if control not in ready:
            continue
        data = control.recv(65536)
        if not data:
            sys.exit(0)
        buffer += data.decode()
        while buffer.strip():
            try:
                command, end_of = json.JSONDecoder().raw_decode(buffer.lstrip())
            except ValueError:
                break  # the rest of it is still to come
            buffer = buffer.lstrip()[end_of:]
            if deaf:
                continue
            if command["execute"] == "cont":
                running = True
            send({"return": answer(command)} | ({"id": command["id"]} if "id" in command else {}))
            if command["execute"] == "quit":
                observer = scenario.get("observer")
                if observer:
                    with Path(observer["path"]).open("w") as out:
                        json.dump(observer["content"], out)
                sys.exit(0)


if "told" in scenario:
    threading.Thread(target=take_lines, args=(channel("lines"), scenario["told"]), daemon=True).start()
running = False
version = {"qemu": {"major": 10, "minor": 0, "micro": 2}, "package": ""}
send({"QMP": {"version": version, "capabilities": []}})
while not running:
    serve(0.02)
for action, argument in steps:
    if action == "print":
        serial.sendall(argument.encode("latin-1"))
    elif action == "flood":
        for _ in range(argument):
            serial.sendall(b"[hog          1.000000] " + b"x" * 1000 + b"\r\n")
            serve(0)
    elif action == "wait":
        serve(argument)
    elif action == "echo":  # show what was typed
        serial.sendall(b"[linux        1.500000] typed " + serial.recv(100).hex().encode() + b"\r\n")
    elif action == "exit":
        os._exit(argument)
    elif action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "deaf":
        deaf = True
    elif action == "shutdown":
        stamp = {"seconds": 0, "microseconds": 0}
        send({"event": "SHUTDOWN", "data": {"guest": True, "reason": "guest-shutdown"}, "timestamp": stamp})
while True:
    serve(60)
