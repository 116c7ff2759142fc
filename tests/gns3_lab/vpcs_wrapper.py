#!/usr/bin/env -S python3 -I
"""Test wrapper around Debian's VPCS 0.5b2, which gns3-server refuses for its age.

Claims version 0.6.1, drops the options 0.5b2 lacks and stays in the foreground.
The console, the network stack and every answer are those of the real program.
"""

import ctypes
import os
import signal
import sys
import time
from types import FrameType

REAL_VPCS = "/usr/bin/vpcs"
UNKNOWN_TO_OLD_VPCS = {"-F", "-R"}
PR_SET_CHILD_SUBREAPER = 36


def children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return [int(pid) for pid in file.read().split()]


def signal_children(number: int) -> None:
    for pid in children():
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def stop(number: int, frame: FrameType | None) -> None:
    signal_children(signal.SIGTERM)
    time.sleep(0.2)
    signal_children(signal.SIGKILL)
    os._exit(0)


def main() -> None:
    arguments = [word for word in sys.argv[1:] if word not in UNKNOWN_TO_OLD_VPCS]
    # VPCS turns itself into a daemon; as its reaper we can still stop it and wait.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    if os.fork() == 0:
        os.execv(REAL_VPCS, [REAL_VPCS, *arguments])
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


if sys.argv[1:] == ["-v"]:
    print("Welcome to Virtual PC Simulator, version 0.6.1")
else:
    main()
