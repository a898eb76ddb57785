"""Writes durations the way they are read."""

from durations.parse import SECONDS


def show(seconds: int) -> str:
    text = ""
    for unit, size in SECONDS.items():
        count, seconds = divmod(seconds, size)
        if count:
            text += f"{count}{unit}"
    return text or "0s"
