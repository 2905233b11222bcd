"""What threads and pools of threads call is followed in the code around a region. Each program was measured
under torch 2.13: it compiles again for what is marked, and for nothing else."""

import textwrap

import pytest
from programs import analysed, found

HEAD = """\
import asyncio
import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import torch


@torch.compile
def step(x):
    return x * 2  # SIZE


def work(rows):
    return step(torch.ones(rows, 3))


"""
PROGRAMS = {
    "a thread for each size": """
        def main():
            for rows in (3, 5):
                thread = threading.Thread(target=work, args=(rows,))
                thread.start()
                thread.join()
    """,
    "threads in a list": """
        def main():
            threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in (3, 5)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    """,
    "a pool": """
        def main():
            with ThreadPoolExecutor(max_workers=1) as pool:
                futures = [pool.submit(work, rows) for rows in (3, 5)]
            print([future.result().shape for future in futures])
    """,
    "a pool that maps": """
        def main():
            with ThreadPoolExecutor(max_workers=1) as pool:
                print(len(list(pool.map(work, [3, 5]))))
    """,
    "a thread does not have the mode of the one that starts it": """
        def main():
            x = torch.ones(3, requires_grad=True)
            with torch.no_grad():
                step(x)
                thread = threading.Thread(target=step, args=(x,))
                thread.start()
                thread.join()
    """,
    "a class of threads": """
        class Worker(threading.Thread):
            def __init__(self, inbox):
                super().__init__()
                self.inbox = inbox

            def run(self):
                while (rows := self.inbox.get()) is not None:
                    work(rows)

        def main():
            inbox = queue.Queue()
            worker = Worker(inbox)
            worker.start()
            for rows in (3, 5, None):
                inbox.put(rows)
            worker.join()
    """,
    "a thread that fills a queue": """
        class Producer(threading.Thread):
            def __init__(self, out):
                super().__init__(daemon=True)
                self.out = out

            def run(self):
                for rows in (3, 5):
                    self.out.put(torch.ones(rows, 3))
                self.out.put(None)

        def main():
            batches = queue.Queue(maxsize=2)
            Producer(batches).start()
            while True:
                batch = batches.get()
                if batch is None:
                    break
                step(batch)
    """,
    "a function of threads that main only hands on": """
        def serve(inbox):
            while True:
                rows = inbox.get()
                if rows is None:
                    return
                work(rows)

        def main():
            inbox = queue.Queue()
            server = threading.Thread(target=serve, args=(inbox,))
            server.start()
            for rows in (3, 5):
                inbox.put(rows)
            inbox.put(None)
            server.join()
    """,
    "asyncio's threads": """
        async def run():
            for rows in (3, 5):
                await asyncio.to_thread(work, rows)

        def main():
            asyncio.run(run())
    """,
    "asyncio's executor": """
        async def handle(rows):
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(None, work, rows)

        async def run():
            print(await asyncio.gather(*(handle(rows) for rows in (3, 5))))

        def main():
            asyncio.run(run())
    """,
    "a queue of asyncio": """
        async def produce(out):
            for rows in (3, 5):
                await out.put(torch.ones(rows, 3))
            await out.put(None)

        async def consume(inbox):
            while (batch := await inbox.get()) is not None:
                step(batch)

        async def run():
            items = asyncio.Queue()
            await asyncio.gather(produce(items), consume(items))

        def main():
            asyncio.run(run())
    """,
}
QUIET = {
    "threads of one size": """
        def main():
            for rows in (3, 3):
                thread = threading.Thread(target=work, args=(rows,))
                thread.start()
                thread.join()
    """,
    "a thread that is joined twice": """
        def main():
            thread = threading.Thread(target=work, args=(3,))
            thread.start()
            thread.join()
            thread.join()
    """,
    "a thread that is not started": """
        def main():
            work(3)
            threading.Thread(target=work, args=(5,))
    """,
    "asyncio's threads of one size": """
        async def run():
            for rows in (3, 3):
                await asyncio.to_thread(work, rows)

        def main():
            asyncio.run(run())
    """,
    "a pool of one size": """
        def main():
            with ThreadPoolExecutor(max_workers=1) as pool:
                list(pool.map(work, [3] * 3))
    """,
}


def lines_of(folder, program):
    source = HEAD + textwrap.dedent(program).lstrip("\n") + "\n\nmain()\n"
    lines = source.splitlines()
    return [(code, lines[line - 1]) for code, line in found(analysed(folder, {"run.py": source}))]


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_differs_between_threads_is_found(what, tmp_path):
    seen = lines_of(tmp_path, PROGRAMS[what])
    assert seen and all("SIZE" in line for _, line in seen)


@pytest.mark.parametrize("what", QUIET)
def test_what_does_not_differ_is_no_hazard(what, tmp_path):
    assert lines_of(tmp_path, QUIET[what]) == []
