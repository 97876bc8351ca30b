cd project && [ -f ../subjects.txt ] && git log --reverse --format=%s core.py | cmp - ../subjects.txt
