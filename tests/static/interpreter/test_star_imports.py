"""`from module import *` beside other imports of the same names: what both bring is one."""

import pytest
from programs import analysed, found

HELPERS = "import os\n\nimport torch\n\n\ndef helper(x):\n    return x\n"
BEGINS = [
    "from helpers import *",
    "try:\n    from helpers import *\nexcept ImportError:\n    pass",
    "try:\n    from helpers import *\nexcept:\n    from package.helpers import *",
    "try:\n    import fast\nexcept ImportError:\n    from helpers import *",
    "if os.name == 'nt':\n    from helpers import *\nelse:\n    from package.helpers import *",
]
NET = """

class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        print(x)
        return torch.nonzero(x)
"""


@pytest.mark.parametrize("begin", BEGINS)
def test_a_name_that_a_star_brings_again_stays_what_it_is(begin, tmp_path):
    files = {
        "net.py": f"import os\n\nimport torch\n\n{begin}\n{NET}",
        "helpers.py": HELPERS,
        "package/__init__.py": "",
        "package/helpers.py": HELPERS,
    }
    result = analysed(tmp_path, files)
    assert {code for code, _ in found(result)} == {"BRK301", "BRK401"}
