"""Calls of the standard library that touch the world outside: clocks, files, processes, logs, threads, sockets."""
# ruff: noqa

import asyncio
import atexit
import codecs
import concurrent.futures
import csv
import ctypes
import datetime
import errno
import faulthandler
import gc
import getpass
import glob
import gzip
import io
import json
import linecache
import locale
import logging
import logging.handlers
import multiprocessing
import os
import os.path
import pathlib
import pickle
import pkgutil
import platform
import pprint
import queue
import random
import resource
import secrets
import select
import selectors
import shelve
import shutil
import signal
import socket
import sqlite3
import stat
import struct
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import traceback
import unittest.mock
import urllib.parse
import urllib.request
import uuid
import warnings
import zipfile
import zlib
import hashlib
import base64
import importlib
import importlib.util
import argparse
import configparser
import contextvars
import sched
import timeit
import cProfile
import tracemalloc

log = logging.getLogger("probe")
log.setLevel(logging.WARNING)
handler = logging.NullHandler()
adapter = logging.LoggerAdapter(log, {})
local = threading.local()
local.depth = 1
lock = threading.Lock()
rlock = threading.RLock()
event = threading.Event()
semaphore = threading.Semaphore()
condition = threading.Condition()
path = pathlib.Path("folder") / "file.txt"
here = pathlib.Path(".")
rng = random.Random(0)
buffer = io.StringIO()
raw = io.BytesIO()
items = queue.Queue()
variable = contextvars.ContextVar("variable", default=1)
moment = datetime.datetime(2024, 1, 2)
pool = concurrent.futures.ThreadPoolExecutor(1)
executor_task = abs


def cases_time(x):
    time.time()
    time.time_ns()
    time.perf_counter()
    time.perf_counter_ns()
    time.monotonic()
    time.monotonic_ns()
    time.process_time()
    time.process_time_ns()
    time.thread_time()
    time.sleep(0)
    time.strftime("%Y")
    time.localtime()
    time.gmtime()
    time.ctime()
    time.asctime()
    time.mktime(time_tuple)
    timeit.default_timer()
    datetime.datetime.now()
    datetime.datetime.utcnow()
    datetime.datetime.today()
    datetime.date.today()
    datetime.datetime(2024, 1, 2)
    datetime.date(2024, 1, 2)
    datetime.timedelta(seconds=1)
    datetime.datetime.fromtimestamp(0)
    datetime.datetime.strptime("2024", "%Y")
    moment.strftime("%Y")
    moment.isoformat()
    moment.timestamp()
    moment - moment  # as: datetime subtraction


def cases_random(x, ns):
    random.random()
    random.uniform(0, 1)
    random.randint(0, 3)
    random.randrange(3)
    random.choice(ns)
    random.choices(ns, k=2)
    random.sample(ns, 2)
    random.shuffle(ns)
    random.gauss(0, 1)
    random.normalvariate(0, 1)
    random.betavariate(1, 1)
    random.expovariate(1)
    random.triangular()
    random.getrandbits(3)
    random.seed(0)
    random.getstate()
    random.setstate(random_state)
    random.Random(0)
    random.Random(0).random()
    rng.random()
    rng.randint(0, 3)
    rng.uniform(0, 1)
    rng.choice(ns)
    rng.shuffle(ns)
    random.SystemRandom()
    secrets.randbelow(3)
    secrets.token_hex(2)
    uuid.uuid4()
    uuid.uuid1()
    uuid.UUID(int=1)


def cases_os(x, s):
    os.environ  # as: os.environ
    os.environ.get("HOME")
    os.environ.get("MISSING", "0")
    os.environ["PATH"]  # as: os.environ[...]
    "HOME" in os.environ  # as: in os.environ
    os.environ.setdefault("PROBE", "1")
    os.getenv("HOME")
    os.getenv("MISSING", "0")
    os.getpid()
    os.getppid()
    os.getcwd()
    os.cpu_count()
    os.listdir(".")
    os.scandir(".")
    os.walk(".")
    os.makedirs("folder", exist_ok=True)
    os.mkdir("one")  # raises
    os.remove("missing")  # raises
    os.rename("missing", "other")  # raises
    os.stat(".")
    os.system("true")
    os.popen("true")
    os.urandom(2)
    os.fspath(path)
    os.getlogin()  # raises
    os.name  # as: os.name
    os.sep  # as: os.sep
    os.path.join("a", "b")
    os.path.exists(".")
    os.path.isfile(".")
    os.path.isdir(".")
    os.path.basename("a/b")
    os.path.dirname("a/b")
    os.path.abspath("a")
    os.path.realpath("a")
    os.path.relpath("a")
    os.path.splitext("a.b")
    os.path.split("a/b")
    os.path.expanduser("~")
    os.path.expandvars("$HOME")
    os.path.normpath("a//b")
    os.path.isabs("a")
    os.path.getsize(".")
    os.path.getmtime(".")
    os.path.commonprefix(["a", "ab"])


def cases_pathlib(x):
    pathlib.Path("a")
    pathlib.PurePath("a")
    pathlib.Path.cwd()
    pathlib.Path.home()
    path.exists()
    path.is_file()
    path.is_dir()
    path.read_text()  # raises
    path.write_text("a")  # raises
    path.open()  # raises
    path.mkdir()  # raises
    path.unlink()  # raises
    path.resolve()
    path.absolute()
    path.joinpath("a")
    path.with_suffix(".a")
    path.with_name("a")
    path.relative_to("folder")
    path.stat()  # raises
    here.glob("*")
    here.iterdir()
    path.as_posix()
    path.name
    path.stem
    path.suffix
    path.parent
    path / "a"  # as: pathlib.Path /
    str(path)  # as: str of pathlib.Path


def cases_sys(x, n):
    sys.getsizeof(n)
    sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    sys.getrefcount(n)
    sys.exc_info()
    sys.exit  # as: sys.exit
    sys.intern("a")
    sys.getdefaultencoding()
    sys._getframe()
    sys._getframe(0).f_lineno  # as: sys._getframe attribute
    sys.version_info >= (3, 8)  # as: sys.version_info compare
    sys.version  # as: sys.version
    sys.platform  # as: sys.platform
    sys.platform == "linux"  # as: sys.platform compare
    sys.maxsize  # as: sys.maxsize
    sys.float_info.max  # as: sys.float_info.max
    sys.float_info.epsilon  # as: sys.float_info.epsilon
    sys.modules  # as: sys.modules
    "torch" in sys.modules  # as: in sys.modules
    sys.argv  # as: sys.argv
    sys.path  # as: sys.path
    sys.stdout.write("a")  # as: sys.stdout.write
    sys.stdout.flush()  # as: sys.stdout.flush
    sys.stderr.write("a")  # as: sys.stderr.write
    sys.stderr.flush()  # as: sys.stderr.flush
    sys.stdin.read()  # as: sys.stdin.read
    sys.gettrace()
    sys.settrace(None)
    sys.setswitchinterval(0.005)
    sys.is_finalizing()
    sys.byteorder  # as: sys.byteorder


def cases_logging(x, t, n):
    logging.getLogger("other")
    logging.getLogger(__name__)
    logging.debug("a")
    logging.info("a")
    logging.warning("a")
    logging.warn("a")
    logging.error("a")
    logging.critical("a")
    logging.exception("a")
    logging.log(10, "a")
    logging.basicConfig()
    logging.getLevelName(10)
    logging.disable(0)
    logging.StreamHandler()
    logging.root.info("a")
    log.debug("a")
    log.info("a")
    log.info("%s", n)
    log.info("%s", t)
    log.info(f"{n}")
    log.warning("a")
    log.warn("a")
    log.error("a")
    log.critical("a")
    log.exception("a")
    log.log(10, "a")
    log.isEnabledFor(10)
    log.getEffectiveLevel()
    log.setLevel(30)
    log.hasHandlers()
    log.getChild("a")
    log.addHandler(handler)
    log.level
    log.name
    log.level > 10  # as: logging.Logger.level compare
    adapter.info("a")
    logging.getLogger("other").info("a")


def cases_warnings(x, t, n):
    warnings.warn("a")
    warnings.warn("a", UserWarning)
    warnings.warn("a", DeprecationWarning, stacklevel=2)
    warnings.warn(f"{n}")
    warnings.warn(f"{t}")
    warnings.warn_explicit("a", UserWarning, "f", 1)
    warnings.filterwarnings("ignore")
    warnings.simplefilter("ignore")
    warnings.resetwarnings()
    warnings.catch_warnings()


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


def cases_files(x, s, d):
    io.StringIO()
    io.BytesIO()
    buffer.write("a")
    buffer.getvalue()
    raw.write(b"a")
    io.open("f.txt", "w")
    json.dumps({"a": 1})
    json.loads('{"a": 1}')
    json.dump({"a": 1}, buffer)
    json.load(io.StringIO("1"))
    pickle.dumps(1)
    pickle.loads(pickled)
    pickle.dump(1, raw)
    csv.reader(["a,b"])
    csv.writer(buffer)
    csv.DictReader(["a,b"])
    struct.pack("i", 1)
    struct.unpack("i", b"abcd")
    struct.calcsize("i")
    zlib.compress(b"a")
    zlib.crc32(b"a")
    gzip.compress(b"a")
    zipfile.is_zipfile("missing")
    hashlib.md5(b"a")
    hashlib.md5(b"a").hexdigest()
    hashlib.sha256(b"a")
    hashlib.sha1(b"a")
    hashlib.new("md5")
    base64.b64encode(b"a")
    base64.b64decode(b"YWFh")
    codecs.encode("a", "utf-8")
    tempfile.mkdtemp()
    tempfile.mkstemp()
    tempfile.gettempdir()
    tempfile.NamedTemporaryFile()
    tempfile.TemporaryFile()
    tempfile.TemporaryDirectory()
    glob.glob("*")
    glob.iglob("*")
    shutil.copy("missing", "other")  # raises
    shutil.rmtree("missing", ignore_errors=True)
    shutil.which("true")
    shutil.get_terminal_size()
    shutil.disk_usage(".")
    linecache.getline("missing", 1)
    configparser.ConfigParser()
    argparse.Namespace(a=1)
    argparse.ArgumentParser()
    sqlite3.connect(":memory:")
    shelve.open("shelf")


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


def cases_debugging(x, t):
    traceback.format_exc()
    traceback.print_exc()
    traceback.print_stack()
    traceback.format_stack()
    traceback.extract_stack()
    traceback.format_exception(ValueError("a"))
    pprint.pprint(1)
    pprint.pformat({"a": 1})
    gc.collect()
    gc.disable()
    gc.enable()
    gc.isenabled()
    gc.get_objects()
    gc.freeze()
    tracemalloc.is_tracing()
    cProfile.Profile()
    unittest.mock.Mock()
    unittest.mock.patch("os.getcwd")
    importlib.import_module("math")
    importlib.util.find_spec("math")
    importlib.reload(stat)
    pkgutil.find_loader("math")
    sched.scheduler()


time_tuple = time.localtime()
random_state = random.getstate()
pickled = pickle.dumps(1)


async def _later():
    return 1
