import unittest

from durations.parse import parse
from durations.show import show


class RoundTrip(unittest.TestCase):
    def test_what_is_written_is_read_back(self):
        for seconds in (0, 59, 90, 3600, 86399):
            self.assertEqual(parse(show(seconds)), seconds)
