"""What needs the number that a size is: Dynamo has a symbol for it once the size was another one."""

from programs import analysed

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"

ATTENTION = """
def attend(q, k):
    return F.scaled_dot_product_attention(q, k, k, is_causal={test})


def main():
    model = torch.compile(attend)
    k = torch.randn(2, 2, 8, 4)
    for n in {sizes}:
        model(torch.randn(2, 2, n, 4), k)


main()
"""


def reads(tmp_path, source):
    report = analysed(tmp_path, {"run.py": HEAD + source})
    return [(f.line, f.condition) for f in report.findings if f.code == "BRK214"]


def test_a_flag_that_a_size_decides_ends_the_graph_once_the_size_varies(tmp_path):
    source = ATTENTION.format(test="q.size(2) == k.size(2)", sizes="(4, 6, 8)")
    assert [condition for _, condition in reads(tmp_path, source)] == [""]


def test_sizes_that_are_the_same_in_all_calls_stay_constants_as_long_as_they_are(tmp_path):
    source = ATTENTION.format(test="q.size(2) == k.size(2)", sizes="(8, 8)")
    assert [condition for _, condition in reads(tmp_path, source)] == [
        "varies(q.size(2) == k.size(2))"
    ]


def test_a_choice_between_constants_is_a_branch(tmp_path):
    source = ATTENTION.format(test="True if q.size(2) > 1 else False", sizes="(4, 6, 8)")
    assert reads(tmp_path, source) == []


def test_how_many_dimensions_a_tensor_has_is_a_constant(tmp_path):
    assert reads(tmp_path, ATTENTION.format(test="q.dim() > 3", sizes="(4, 6, 8)")) == []


def test_without_calls_the_finding_says_that_the_size_has_to_vary(tmp_path):
    source = """
class Model(nn.Module):
    def forward(self, x):
        whole, rest = divmod(x.shape[1], 4)
        return x * whole + rest
"""
    assert [condition for _, condition in reads(tmp_path, source)] == ["varies(x.shape[1])"]


def test_the_message_of_an_error_makes_no_text_of_a_size(tmp_path):
    source = """
class Model(nn.Module):
    def forward(self, x):
        assert x.shape[1] < 99, f"{x.shape[1]} is too long"
        if x.dim() != 2:
            raise ValueError(f"not of two dimensions: {tuple(x.shape)}")
        return x * 2


def main():
    model = torch.compile(Model())
    for n in (4, 6, 8):
        model(torch.randn(2, n))


main()
"""
    report = analysed(tmp_path, {"run.py": HEAD + source})
    assert [f.code for f in report.findings] == ["BRK712"]
