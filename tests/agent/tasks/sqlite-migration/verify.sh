python3 - <<'END'
import sqlite3
base = sqlite3.connect("app.db")
assert base.execute("pragma user_version").fetchone() == (2,)
assert base.execute("select name, active from users order by name").fetchall() == [("Ada", 1), ("Bob", 0), ("Cem", 1)]
END
