! grep -rnw --include='*.py' --include='*.md' fetch lib && grep -q 'store.load(name)' lib/docs/use.md && grep -q prefetch lib/store.py || exit 1
export PYTHONDONTWRITEBYTECODE=1
python3 -m unittest discover -s lib 2>/dev/null && python3 -c 'import sys; sys.path.insert(0, "lib"); import store; assert store.load("a") == 1'
