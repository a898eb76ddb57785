"""Reads durations such as 1h30m."""

import re

SECONDS = {"h": 3600, "m": 60, "s": 1}


def parse(text: str) -> int:
    parts = re.findall(r"(\d+)([hms])", text)
    if not parts or "".join(map("".join, parts)) != text:
        raise ValueError(f"not a duration: {text!r}")
    return sum(int(count) * SECONDS[unit] for count, unit in parts)
