"""No backend has this name; a known one is written nearly so.

Backends are found by their exact name, at the first call and not at `torch.compile`: the mistake
shows up late, as `InvalidBackend`. Packages may register names of their own, so only names that
look like a misspelt one are flagged.

`torch._dynamo.list_backends()` returns the names that are installed.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Wrap

BACKENDS = """inductor eager aot_eager cudagraphs aot_eager_decomp_partition eager_noexcept eager_debug
pre_dispatch_eager invoke_subgraph openxla tvm ts aot_ts onnxrt ipex tensorrt torch_tensorrt openvino hpu_backend
""".split()

rule = Rule("BRK811", "unknown-backend", kind="usage", severity="error")


@rule.on(Wrap, name=("torch.compile", "Module.compile"))
def check(event):
    backend = event.setting("backend")
    if not isinstance(backend, str) or backend in BACKENDS or event.checked:
        return
    import difflib  # a wrong name is rare, and this rule is called for every wrapping

    near = difflib.get_close_matches(backend.lower().replace("-", "_"), BACKENDS, 1, 0.85)
    if near:
        yield event.problem(
            f"no backend is called {backend!r}: the first call raises InvalidBackend",
            help=f"write backend={near[0]!r}",
        )


@rule.program(shows={"error": "InvalidBackend"}, instead={"error": ""})
def bad():
    model = torch.compile(torch.nn.Linear(4, 4), backend="aot-eager")  # BRK811
    return model(torch.ones(2, 4))


@rule.becomes
def good():
    model = torch.compile(torch.nn.Linear(4, 4), backend="aot_eager")
    return model(torch.ones(2, 4))
