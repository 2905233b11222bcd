"""msgspec is imported without what it takes along, and nobody else sees that."""

from __future__ import annotations

import subprocess
import sys

START = "import sys\nfrom breakscope.light_msgspec import STAND_INS, import_msgspec\n"


def run(code: str) -> str:
    """What a fresh process prints."""
    ran = subprocess.run([sys.executable, "-c", START + code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_what_it_takes_along_is_not_imported():
    assert run("import_msgspec(); print('msgspec' in sys.modules, [n for n in (*STAND_INS, 'platform') if n in sys.modules])") == "True []"


def test_reports_are_written_and_read():
    code = """import_msgspec()
from breakscope.report.model import Report, from_json, to_json
report = Report(version="1", torch="2.13.0")
print(from_json(to_json(report)) == report)
"""
    assert run(code) == "True"


def test_others_get_the_real_ones_afterwards():
    code = "import_msgspec()\nimport decimal, textwrap, uuid\nprint(uuid.UUID(int=7).int, decimal.Decimal('1.5'), textwrap.dedent(' a'))"
    assert run(code) == "7 1.5 a"


def test_what_is_imported_already_stays():
    code = "import decimal, uuid\nimport_msgspec()\nimport msgspec\nprint(msgspec.json.encode([uuid.UUID(int=1), decimal.Decimal(2)]).decode())"
    assert run(code) == '["00000000-0000-0000-0000-000000000001","2"]'


def test_a_msgspec_that_needs_more_is_imported_as_a_whole():
    code = "import breakscope.light_msgspec as light\nlight.STAND_INS = {'uuid': (), 'textwrap': ()}\nimport_msgspec()\nimport msgspec, uuid\n"
    assert run(code + "print(msgspec.json.encode(uuid.UUID(int=0)).decode())") == '"00000000-0000-0000-0000-000000000000"'
