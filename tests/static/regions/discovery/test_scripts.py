"""Scripts that start what other files of the project compile."""

from programs import analysed, found

CONFIG = """
    class Config:
        compile = True
        epochs = 2
"""
MODEL = """
    import torch
    from torch import nn


    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x, step=0):
            y = self.layer(x)
            if step == 0:
                y = y * 2
            return y
"""
RUNNER = """
    import torch

    from .model import Model


    class Runner:
        def __init__(self, config):
            self.config = config
            self.model = Model()
            if config.compile:
                self.model = torch.compile(self.model)

        def fit(self, sizes):
            for step, n in enumerate(sizes):
                self.model(torch.randn(n, 4), step=step).sum().backward()
"""
SCRIPT = """
    from lib.config import Config
    from lib.runner import Runner


    def main():
        Runner(Config()).fit([8, 8, 5])


    if __name__ == "__main__":
        main()
"""
LIB = {"lib/__init__.py": "", "lib/config.py": CONFIG, "lib/model.py": MODEL}


def test_a_script_without_torch_calls_what_another_file_compiles(tmp_path):
    result = analysed(tmp_path, {**LIB, "lib/runner.py": RUNNER, "main.py": SCRIPT})
    assert set(found(result)) == {("BRK712", 12), ("BRK708", 13)}


def test_a_loop_of_another_file_calls_what_the_script_compiles(tmp_path):
    runner = RUNNER.replace(
        """            self.model = Model()
            if config.compile:
                self.model = torch.compile(self.model)
""",
        "            self.model = config.model\n",
    )
    script = """
        import torch

        from lib.config import Config
        from lib.model import Model
        from lib.runner import Runner


        def main():
            config = Config()
            config.model = torch.compile(Model())
            Runner(config).fit([8, 8, 5])


        if __name__ == "__main__":
            main()
    """
    result = analysed(tmp_path, {**LIB, "lib/runner.py": runner, "main.py": script})
    assert set(found(result)) == {("BRK712", 12), ("BRK708", 13)}


def test_a_package_hands_out_what_its_files_compile(tmp_path):
    files = {**LIB, "lib/__init__.py": "from .runner import Runner\n", "lib/runner.py": RUNNER}
    script = SCRIPT.replace("lib.runner", "lib")
    result = analysed(tmp_path, {**files, "main.py": script})
    assert set(found(result)) == {("BRK712", 12), ("BRK708", 13)}


def test_a_script_that_leads_to_no_compiler_is_not_followed(tmp_path):
    runner = RUNNER.replace("torch.compile(self.model)", "self.model.eval()")
    result = analysed(tmp_path, {**LIB, "lib/runner.py": runner, "main.py": SCRIPT})
    assert found(result) == []
