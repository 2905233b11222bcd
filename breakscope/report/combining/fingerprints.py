"""What a service knows a finding by, so that it is the same one in the next report."""

from __future__ import annotations

import hashlib
from collections import Counter

from breakscope.report.model import Finding


def fingerprint(finding: Finding, seen: Counter[str]) -> str:
    """The same while lines move: path, function, code and the line's text, and its number among
    equals."""
    index = finding.line - finding.first_source_line
    text = finding.source[index].strip() if 0 <= index < len(finding.source) else ""
    return hashed("\0".join((finding.path, finding.function, finding.code, text)), seen)


def hashed(identity: str, seen: Counter[str]) -> str:
    """Of equal identities each has its own."""
    seen[identity] += 1
    numbered = f"{identity}\0{seen[identity]}"
    return hashlib.sha256(numbered.encode("utf-8", "surrogatepass")).hexdigest()[:32]
