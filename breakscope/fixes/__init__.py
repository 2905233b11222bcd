"""Rewrites and their proof: what the rules' fixes make of files.

`fixed_sources` says what files would hold; writing it is another step (`writing.replace_file`).
"""

from breakscope.fixes.passes import Applied, Fixed, FixOptions, NotApplied, Proven, fixed_sources

__all__ = ["Applied", "FixOptions", "Fixed", "NotApplied", "Proven", "fixed_sources"]
