mkdir -p lib/docs
cat >lib/store.py <<'END'
def fetch(name):
    """To fetch is to load."""
    return {"a": 1}.get(name)


def prefetch():
    fetched = fetch("a")
    return fetched
END
cat >lib/test_store.py <<'END'
import unittest
import store


class Test(unittest.TestCase):
    def test_it(self):
        self.assertEqual(store.fetch("a"), 1)
        self.assertEqual(store.prefetch(), 1)
END
echo 'Call `store.fetch(name)`, or `prefetch()`.' >lib/docs/use.md
