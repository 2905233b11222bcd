"""Clocks and random numbers of the standard library."""
# ruff: noqa

import datetime
import random
import secrets
import time
import timeit
import uuid

rng = random.Random(0)
moment = datetime.datetime(2024, 1, 2)
time_tuple = time.localtime()
random_state = random.getstate()


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
