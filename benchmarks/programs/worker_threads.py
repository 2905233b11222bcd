"""Two threads serve requests with one compiled function, each with a batch size of its own.

cured: breaks 0, recompiles 0
"""

import sys
import threading

import torch

CURED = "--cured" in sys.argv
lock = threading.Lock()


@torch.compile(backend="eager", dynamic=True if CURED else None)
def serve(x):  # want: recompile size x1 "dimension 0 of `x`"
    return (x * 2).softmax(-1)


def work(size):
    for _ in range(3):
        with lock:
            serve(torch.randn(size, 8))


serve(torch.randn(4, 8))
threads = [threading.Thread(target=work, args=(size,)) for size in (4, 6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
