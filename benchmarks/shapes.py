#!/usr/bin/env python3
"""Whether the table `shapes` holds for the installed torch: shapes.py [NAME ...]

Every function, method and layer of the table (or those named) is called on small tensors of 0 to 5
dimensions; a call that returns other dimensions or another dtype than the table says is printed.
Needs `expecttest`. The exit code is 1 where there is one.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from breakscope import knowledge
from breakscope.knowledge.build import operators, shapes


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    tables = knowledge.load()
    samples = defaultdict(list)
    for operator in operators.programs():
        samples[operator.name].append(operator)
    rows = options.names or [name for name in tables.shapes if name not in shapes.MOVES]
    failed = 0
    for name in rows:
        for made in shapes.wrong(tables.shapes[name], shapes.isolated_tries(name, samples[name])):
            failed += 1
            print(f"{name}: {tables.shapes[name]}, but {made}")
    print(f"{len(rows)} rows, {failed} calls that returned something else")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
