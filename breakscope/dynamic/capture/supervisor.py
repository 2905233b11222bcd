"""The process between breakscope and what it runs: `python supervisor.py DESCRIPTOR`.

It starts the program, tells how it ended, and ends it with all that it started when breakscope is
gone, however that came. The descriptor is a socket: breakscope's end of it is closed by the system
whatever ends breakscope. On Linux this process adopts orphans, so that nothing that the program
starts can leave it, in no session of its own either; elsewhere it is the program's process group
that ends.

It uses Python's library alone, and nothing of it that takes long to import: it is started for each
run.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

# what breakscope sends: end all that is left; that it knows how the program ended. When it is
# gone itself, nothing is received
END, DONE = b"k", b"d"
LOCK = "breakscope.lock"  # see folders.py
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def main(descriptor):
    parent = socket.socket(fileno=descriptor)
    job = json.loads(parent.makefile("r", encoding="utf-8").readline() or "null")
    if job is None:
        return
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
    if prctl:
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    changed, woken = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(changed, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    try:
        running = started(job, prctl)  # kept: a Popen that goes may reap its process
    except OSError as problem:
        reported(parent, {"error": problem.errno, "text": problem.strerror})
        return
    close(job["descriptors"])
    reported(parent, {"pid": running.pid})
    watch(parent, changed, running.pid, job)


def started(job, prctl):
    """The program; raises OSError."""
    own = os.getpid()

    def prepare():
        if prctl:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != own:
                os._exit(1)
        signal.pthread_sigmask(signal.SIG_SETMASK, job["blocked"])

    return subprocess.Popen(
        job["command"],
        env=job["environment"],
        pass_fds=job["descriptors"],
        start_new_session=job["own_session"],
        preexec_fn=prepare,
    )


def close(descriptors):
    """The program's end is seen by the end of its pipes: this process holds none of them."""
    for descriptor in descriptors:
        os.close(descriptor)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)


def watch(parent, changed, program, job):
    """Until the program has ended, or breakscope has."""
    poll = select.poll()
    poll.register(parent, select.POLLIN)
    poll.register(changed, select.POLLIN)
    code = None
    while code is None:
        ready = [descriptor for descriptor, _ in poll.poll()]
        if changed in ready:
            os.read(changed, 4096)
            code = reaped(program)
        if code is None and parent.fileno() in ready:
            asked = parent.recv(1)
            code = end(program, job)
            if not asked:
                remove(job["folders"])
                return
    if job["own_session"]:
        end(program, job)
    asked = parent.recv(1) if reported(parent, {"code": code}) else b""
    if asked != DONE:
        end(program, job)
    if not asked:
        remove(job["folders"])


def reported(parent, fact):
    """False when breakscope is gone."""
    try:
        parent.sendall(json.dumps(fact).encode() + b"\n")
    except OSError:
        return False
    return True


def reaped(program):
    """The program's exit code, negative for a signal; None while it runs. Orphans are reaped too."""
    code = None
    while True:
        try:
            number, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if not number:
            return code
        if number == program:
            code = os.waitstatus_to_exitcode(status)


def end(program, job):
    """Kill all that the program started, and itself; its exit code."""
    code, until = None, time.monotonic() + job["kill_seconds"]
    while left := descendants(program, job):
        for number in left:
            try:
                os.kill(number, signal.SIGKILL)
            except OSError:  # gone by itself
                pass
        found = reaped(program)
        code = found if found is not None else code
        if time.monotonic() > until:
            break
        time.sleep(job["kill_tick"])
    return -signal.SIGKILL if code is None else code


def descendants(program, job):
    """The processes below this one, zombies left out."""
    if sys.platform != "linux":
        return group(program, job)
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
            except OSError:
                continue
            parents[int(name)] = int(parent), state
    found, own = [], {os.getpid()}
    while own:
        own = {number for number, (parent, _) in parents.items() if parent in own}
        found += [number for number in own if parents[number][1] not in b"ZX"]
    return found


def group(program, job):
    """The program's process group, as far as there is one; nothing else is known of here."""
    try:
        if job["own_session"]:
            os.killpg(program, signal.SIGKILL)
        os.kill(program, 0)
    except OSError:
        return []
    return [program]


def remove(folders):
    """The lock goes last: by it a folder is known that could not be removed as a whole."""
    for folder in folders:
        try:
            for name in sorted(os.listdir(folder), key=lambda name: name == LOCK):
                path = os.path.join(folder, name)
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    os.unlink(path)
            os.rmdir(folder)
        except OSError:  # someone else removes it, or it cannot be
            continue


if __name__ == "__main__":
    main(int(sys.argv[1]))
