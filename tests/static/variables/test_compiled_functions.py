"""Functions of packages that have no Python source, and all of SciPy. Under Dynamo of torch 2.13.0 and with SciPy 1.17
the call breaks, or is traced where no line is given."""

import pytest
from programs import TORCH, analysed, found, write

from breakscope.static import StaticOptions, analyze

SOURCE = """\
import scipy.signal
import scipy.special
import torch
from scipy.optimize import linear_sum_assignment


class Matcher(torch.nn.Module):
    def forward(self, x, y):
        cost = torch.cdist(x, y)
        {line}
        return cost
"""
# a package as pip installs it, whose public names are those of compiled modules
INSTALLED = {
    "environment/scipy-1.17.dist-info/METADATA": "Name: scipy\n",
    "environment/scipy/__init__.py": "import torch\n",
    "environment/scipy/special/__init__.py": "from ._ufuncs import *\nfrom ._logsumexp import softmax\n",
    "environment/scipy/special/_logsumexp.py": "def softmax(x):\n    return x\n",
    "environment/scipy/optimize/__init__.py": "from ._lsap import linear_sum_assignment\n",
}


@pytest.mark.parametrize(
    ("line", "breaks"),
    [
        ("rows, columns = linear_sum_assignment(cost.detach().numpy())", True),
        ("cost = cost * torch.as_tensor(scipy.special.gamma(cost.numpy()))", True),
        ("cost = cost * torch.as_tensor(scipy.special.softmax(cost.numpy()))", False),
        ("cost = cost * torch.as_tensor(scipy.signal.hilbert(cost.numpy()))", True),
        ("b, a = scipy.signal.butter(3, 0.2)", True),
        ("cost = cost * (2 if scipy.sparse.issparse(cost) else 1)", False),
    ],
)
@pytest.mark.parametrize("installed", [False, True])
def test_compiled_functions_of_scipy(line, breaks, installed, tmp_path, monkeypatch):
    write(tmp_path, {"own/program.py": SOURCE.format(line=line), **INSTALLED})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "environment"))
    result = analyze([tmp_path / "own"], StaticOptions(torch=TORCH, libraries=installed))
    assert found(result) == [("BRK599", 10)] * breaks


def test_a_function_that_the_region_makes_is_given_the_name_of_another(tmp_path):
    source = (
        "import functools\nimport torch\ndef double(x):\n    return x * 2\n@torch.compile\ndef step(x):\n"
        "    return functools.update_wrapper(lambda y: double(y) + 1, double)(x)\n"
    )
    assert found(analysed(tmp_path, {"run.py": source})) == []


@pytest.mark.parametrize(
    ("line", "breaks"),
    [
        ("y = torch.as_tensor(librosa.stft(y.numpy()))", True),
        ("y = y + float(librosa.hz_to_mel(100.0))", True),
        ("y = y + librosa.get_duration(y=y.numpy(), sr=16000)", False),
        ("y = torch.as_tensor(cv2.resize(y.numpy(), (8, 8)))", True),
        ("y = y + cv2.INTER_LINEAR", False),
        ("y = torch.as_tensor(gaussian(y.numpy(), 1.0))", True),
        ("plt.figure()", True),
        ("plt.close()", False),
        ("picture = Image.fromarray(y.numpy())", True),
        ("y = y if isinstance(y, Image.Image) else -y", False),
    ],
)
def test_functions_that_are_entered_and_given_up(line, breaks, tmp_path):
    """With librosa 0.11, OpenCV 5.0, scikit-image 0.26, Matplotlib 3.11 and Pillow 13."""
    source = (
        "import cv2\nimport librosa\nimport matplotlib.pyplot as plt\nimport torch\nfrom PIL import Image\n"
        "from skimage.filters import gaussian\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        f"        y = x * 2\n        {line}\n        return y\n"
    )
    assert found(analysed(tmp_path, {"program.py": source})) == [("BRK599", 10)] * breaks
