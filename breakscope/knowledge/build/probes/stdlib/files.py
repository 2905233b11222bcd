"""Files, paths, the environment and serialization."""
# ruff: noqa

import argparse
import base64
import codecs
import configparser
import csv
import glob
import gzip
import hashlib
import io
import json
import linecache
import os
import os.path
import pathlib
import pickle
import shelve
import shutil
import sqlite3
import struct
import tempfile
import zipfile
import zlib

path = pathlib.Path("folder") / "file.txt"
here = pathlib.Path(".")
buffer = io.StringIO()
raw = io.BytesIO()
pickled = pickle.dumps(1)


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
