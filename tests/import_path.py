"""PYTHONPATH of the programs that tests start: this checkout first, then what the tests themselves
were given, since breakscope's own libraries may lie there."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONPATH = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
