"""The frames that a break report lists."""

from breakscope.dynamic.trace.frames import read_frames

REPORT = """Graph break in user code at layer.py:63

User code traceback:
  File "train.py", line 7, in <module>
    model(x)
    ^^^^^^^^
  File "model.py", line 214, in forward
    )
      
  File "layer.py", line 63, in forward
    if valid.max() == 0:
       ^^^^^^^^^^^

  File "behind.py", line 1, in the_end
"""


def test_blanks_under_a_closing_bracket_do_not_end_the_traceback():
    report = REPORT.replace('\n  File "behind.py"', '\nNoneType: None\n  File "behind.py"')
    assert [(frame.path, frame.line) for frame in read_frames(report)] == [
        ("train.py", 7),
        ("model.py", 214),
        ("layer.py", 63),
    ]
