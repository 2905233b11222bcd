"""Threads, queues, processes, sockets and the platform."""
# ruff: noqa

import asyncio
import atexit
import concurrent.futures
import contextvars
import ctypes
import errno
import faulthandler
import getpass
import locale
import multiprocessing
import platform
import queue
import resource
import select
import selectors
import signal
import socket
import subprocess
import sysconfig
import threading
import urllib.parse

local = threading.local()
local.depth = 1
lock = threading.Lock()
rlock = threading.RLock()
event = threading.Event()
semaphore = threading.Semaphore()
items = queue.Queue()
variable = contextvars.ContextVar("variable", default=1)
pool = concurrent.futures.ThreadPoolExecutor(1)
executor_task = abs


async def _later():
    return 1


def cases_threads(x):
    threading.Lock()
    threading.RLock()
    threading.Event()
    threading.Condition()
    threading.Semaphore()
    threading.BoundedSemaphore()
    threading.Barrier(1)
    threading.local()
    threading.Thread(target=abs)
    threading.Timer(1, abs)
    threading.current_thread()
    threading.main_thread()
    threading.get_ident()
    threading.get_native_id()
    threading.active_count()
    threading.enumerate()
    lock.acquire(blocking=False)  # as: threading.Lock.acquire
    lock.locked()  # as: threading.Lock.locked
    lock.release()  # as: threading.Lock.release; raises
    rlock.acquire()  # as: threading.RLock.acquire
    event.set()
    event.is_set()
    event.wait(0)
    event.clear()
    semaphore.acquire(blocking=False)
    local.depth  # as: threading.local.depth
    local.depth = 2  # as: threading.local.depth =
    queue.Queue()
    queue.SimpleQueue()
    queue.PriorityQueue()
    items.put(1)
    items.qsize()
    items.empty()
    items.get()  # raises
    concurrent.futures.ThreadPoolExecutor(1)
    pool.submit(executor_task, 1)
    pool.map(executor_task, [1])
    multiprocessing.Lock()
    multiprocessing.Queue()
    multiprocessing.current_process()
    multiprocessing.cpu_count()
    multiprocessing.get_context()
    asyncio.get_event_loop_policy()
    asyncio.new_event_loop()
    asyncio.Lock()
    asyncio.run(_later())  # raises
    contextvars.ContextVar("other")
    contextvars.copy_context()
    variable.get()
    variable.set(2)
    atexit.register(abs)
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    signal.getsignal(signal.SIGUSR1)


def cases_processes(x):
    subprocess.run(["true"])
    subprocess.Popen(["true"])
    subprocess.check_output(["true"])
    subprocess.call(["true"])
    platform.system()
    platform.machine()
    platform.python_version()
    platform.platform()
    platform.node()
    platform.processor()
    socket.gethostname()
    socket.socket()
    getpass.getuser()
    resource.getrusage(resource.RUSAGE_SELF)
    locale.getlocale()
    select.select([], [], [], 0)
    selectors.DefaultSelector()
    urllib.parse.urlparse("http://a/b")
    urllib.parse.quote("a b")
    errno.ENOENT  # as: errno.ENOENT
    sysconfig.get_paths()
    ctypes.c_int(1)
    ctypes.sizeof(ctypes.c_int)
    faulthandler.is_enabled()
