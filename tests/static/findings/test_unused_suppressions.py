"""Comments that silence nothing are found, and `fix` takes them away."""

import pytest

from breakscope.fixes.passes import fixed_sources
from breakscope.static import StaticOptions, analyze

HEAD = "import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x, y=1):\n"
# a statement of `forward`, the unused codes of its comment, and what the fix makes of it
BODIES = {
    "return x.item()  # breakscope: ignore[BRK201] why": ((), None),
    "return x + 1  # breakscope: ignore[BRK201] why": (("BRK201",), "return x + 1"),
    "return x + 1  # breakscope: ignore": (("# breakscope: ignore",), "return x + 1"),
    "return x.item()  # breakscope: ignore[BRK101, BRK201]  why": (
        ("BRK101",),
        "return x.item()  # breakscope: ignore[BRK201]  why",
    ),
    "return x.item()  # breakscope: ignore[BRK201,BRK4,BRK5]": (
        ("BRK4", "BRK5"),
        "return x.item()  # breakscope: ignore[BRK201]",
    ),
    "return x + 1  # noqa: E501, BRK201": (("BRK201",), "return x + 1  # noqa: E501"),
    "return x + 1  # noqa: BRK201, E501": (("BRK201",), "return x + 1  # noqa: E501"),
    "return x + 1  # noqa: BRK201  # type: ignore": (("BRK201",), "return x + 1  # type: ignore"),
    "return x + 1  # note  # breakscope: ignore[BRK2]": (("BRK2",), "return x + 1  # note"),
    "# breakscope: ignore[BRK201]\n        return x + 1": (("BRK201",), "return x + 1"),
    "return (x +\n            1)  # breakscope: ignore[BRK1]": (
        ("BRK1",),
        "return (x +\n            1)",
    ),
    "return x + 1  # noqa": ((), None),
    "return x + 1  # noqa: E501": ((), None),
    "return '# breakscope: ignore[BRK201]'": ((), None),
    '"""\n        z  # breakscope: ignore[BRK201]\n        """\n        return x': ((), None),
    "return x + 1  # breakscope: ignore[BRK901]": ((), None),  # only a run can find it
    "return x + 1  # breakscope: ignore[BRK201, BRK001] kept": ((), None),
    "if y: x = x.item()  # breakscope: ignore[BRK201]\n        return x": ((), None),
}


def checked(tmp_path, body, **options):
    file = tmp_path / "model.py"
    file.write_text(f"{HEAD}        {body}\n", encoding="utf-8")
    return file, analyze([file], StaticOptions(**options))


def unused(result):
    return tuple(f.names[0] for f in result.findings if f.code == "BRK001")


@pytest.mark.parametrize("body", BODIES)
def test_unused_codes(body, tmp_path):
    codes, after = BODIES[body]
    file, result = checked(tmp_path, body)
    assert unused(result) == codes
    fixed = fixed_sources([str(file)])
    wanted = {str(file): f"{HEAD}        {after}\n".encode()} if after else {}
    assert dict(fixed.new) == wanted
    assert not codes or not unused(fixed.after)


def test_a_code_that_no_rule_has(tmp_path):
    _, result = checked(tmp_path, "return x  # breakscope: ignore[BRK999, what]")
    assert [f.message for f in result.findings] == [
        "`BRK999` is no code of a rule, so nothing is silenced by it",
        "`WHAT` is no code of a rule, so nothing is silenced by it",
    ]


def test_a_comment_for_the_whole_file(tmp_path):
    used = "return x.item()\n# breakscope: ignore-file[BRK201, BRK4]"
    file, result = checked(tmp_path, used)
    assert unused(result) == ("BRK4",) and result.hidden == 1
    new = fixed_sources([str(file)]).new[str(file)].decode()
    assert new.endswith("return x.item()\n# breakscope: ignore-file[BRK201]\n")


def test_what_is_only_possible_uses_a_comment(tmp_path):
    body = "if y > 9: raise ValueError\n        return x  # breakscope: ignore[BRK7]"
    for possible in (True, False):
        _, result = checked(tmp_path, "print(x); x.item()  # breakscope: ignore", possible=possible)
        assert unused(result) == ()
    _, result = checked(tmp_path, body, possible=False)
    assert unused(result) == ("BRK7",)


def test_with_an_entry_a_part_of_the_code_is_looked_at(tmp_path):
    file, _ = checked(tmp_path, "return x  # breakscope: ignore[BRK201]")
    result = analyze([file], StaticOptions(entries=(f"{file}::M",)))
    assert result.regions == 1 and unused(result) == ()


def test_another_file_may_use_a_comment(tmp_path):
    helper = tmp_path / "helper.py"
    model = tmp_path / "model.py"
    helper.write_text(
        "import torch\nclass Own(torch.nn.Module):\n    def forward(self, x): return x\n"
        "def used(x):\n    return x.item()  # breakscope: ignore[BRK201]\n"
        "def stale(x):\n    return x + 1  # breakscope: ignore[BRK201]\n"
    )
    model.write_text(
        "import torch\nfrom helper import used, stale\n"
        "class M(torch.nn.Module):\n    def forward(self, x): return used(x) + stale(x)\n"
    )
    certainties = {}
    for files in ([helper], [helper, model], [model, helper]):
        result = analyze(files)
        found = [f for f in result.findings if f.code == "BRK001"]
        certainties[tuple(f.name for f in files)] = [(f.line, f.confidence) for f in found]
    assert certainties == {
        ("helper.py",): [(5, "possible"), (7, "possible")],  # no code of its own leads there
        ("helper.py", "model.py"): [(7, "likely")],
        ("model.py", "helper.py"): [(7, "likely")],
    }


def test_a_check_does_not_silence_where_a_run_decides(tmp_path):
    _, result = checked(tmp_path, "return x.item()  # breakscope: ignore[BRK201]", silence=False)
    assert [f.code for f in result.findings] == ["BRK201"]


def test_line_ends_and_other_lines_stay_as_they_are(tmp_path):
    file = tmp_path / "model.py"
    text = HEAD.replace("\n", "\r\n") + "        return x + 1  # noqa: BRK201 \t\r\n# end"
    file.write_bytes(text.encode())
    new = fixed_sources([str(file)]).new[str(file)]
    assert new == text.replace("  # noqa: BRK201 \t", "").encode()
