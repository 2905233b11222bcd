"""Packages other than torch's that are known by the names of what they define: which of it Dynamo enters and gives up
inside, and what their functions make."""

from __future__ import annotations

import re

from breakscope.rulekit.values import External, ExternalInstance

# packages whose functions Dynamo enters and gives up inside, and parts of others, but for these functions
GIVEN_UP = frozenset(
    "cv2 faiss h5py librosa rdkit scipy sentencepiece skimage tiktoken tokenizers".split()
)
# packages of which functions or types are known by their names
KNOWN_BY_NAME = frozenset("PIL jaxtyping loguru matplotlib numba typing_extensions".split())
GIVEN_UP_PARTS = frozenset("PIL.Image PIL.ImageOps matplotlib.pyplot".split())
TRACED_OF_THEM = frozenset(
    """
    scipy.special.softmax scipy.linalg.hadamard scipy.sparse.issparse scipy.sparse.isspmatrix
    librosa.get_duration librosa.cqt_frequencies librosa.fft_frequencies librosa.db_to_power
    skimage.morphology.disk skimage.color.gray2rgb
    matplotlib.pyplot.close matplotlib.pyplot.get_cmap matplotlib.pyplot.show
    """.split()
) | {f"scipy.sparse.isspmatrix_{kind}" for kind in "bsr coo csc csr dia dok lil".split()}


# classes around the compiled code of `tokenizers`
TOKENIZER = re.compile(r"transformers\.(?:\w*Tokenizer|PreTrainedTokenizerBase)(?:Fast)?")


def is_given_up(name: str) -> bool:
    """True for a function that Dynamo enters and does not come through."""
    part, _, last = name.rpartition(".")
    if TOKENIZER.fullmatch(part) or TOKENIZER.fullmatch(name):
        return True
    if part in GIVEN_UP_PARTS:
        return name not in TRACED_OF_THEM and not last[:1].isupper()
    return name.partition(".")[0] in GIVEN_UP and name not in TRACED_OF_THEM


DATES = tuple(f"datetime.{name}" for name in ("date", "datetime", "time", "timedelta"))
# classes of SciPy's, and distributions that are called to fix their parameters, named as its functions are
SCIPY_CLASSES = frozenset(
    [
        *"scipy.interpolate.interp1d scipy.interpolate.interp2d scipy.spatial.cKDTree".split(),
        *(f"scipy.sparse.{x}_array" for x in "bsr coo csc csr dia dok lil".split()),
        *(f"scipy.sparse.{x}_matrix" for x in "bsr coo csc csr dia dok lil".split()),
        *(
            f"scipy.stats.{name}"
            for name in """
            bernoulli beta binom cauchy chi2 expon gamma gaussian_kde invgamma laplace lognorm logistic
            multivariate_normal norm poisson randint t truncnorm uniform
            """.split()
        ),
    ]
)
# what functions of packages make, as attributes of models hold it
MAKES = (
    {name: ExternalInstance(name) for name in DATES}
    | {
        f"sklearn.utils.{name}": ExternalInstance("numpy.random.RandomState")
        for name in ("check_random_state", "validation.check_random_state")
    }
    | {
        f"tqdm{module}.{name}": ExternalInstance("tqdm.std.tqdm")
        for module in ("", ".auto", ".autonotebook", ".notebook", ".rich", ".std")
        for name in ("tqdm", "trange")
    }
    | {name: ExternalInstance(name) for name in SCIPY_CLASSES}
    | {
        f"pandas.read_{form}": ExternalInstance("pandas.DataFrame")
        for form in "csv excel feather json parquet pickle table".split()
    }
    | {
        f"tiktoken.{name}": ExternalInstance("tiktoken.Encoding")
        for name in ("encoding_for_model", "get_encoding")
    }
    | {
        f"tokenizers.Tokenizer.from_{source}": ExternalInstance("tokenizers.Tokenizer")
        for source in ("file", "pretrained", "str")
    }
    | {
        f"networkx.{kind}_graph": ExternalInstance("networkx.Graph")
        for kind in "complete cycle grid_2d path star".split()
    }
    | {f"loguru.logger.{name}": External("loguru.logger") for name in ("bind", "opt", "patch")}
)
