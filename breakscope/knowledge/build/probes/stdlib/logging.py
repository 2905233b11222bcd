"""Logging, warnings, sys, tracebacks and other ways to look at a program."""
# ruff: noqa

import cProfile
import gc
import importlib
import importlib.util
import logging
import os
import pkgutil
import pprint
import sched
import stat
import sys
import traceback
import tracemalloc
import unittest.mock
import warnings

log = logging.getLogger("probe")
log.setLevel(logging.WARNING)
handler = logging.NullHandler()
adapter = logging.LoggerAdapter(log, {})


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
