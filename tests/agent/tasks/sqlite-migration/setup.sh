python3 - <<'END'
import sqlite3
base = sqlite3.connect("app.db")
base.executescript("create table users(name text); insert into users values ('Ada'), ('Bob (gone)'), ('Cem'); pragma user_version = 1;")
END
