python3 - <<'END'
import sqlite3
base = sqlite3.connect("shop.db")
base.executescript("""
create table customers(id integer primary key, name text);
create table orders(id integer primary key, customer integer references customers(id), total integer, state text);
insert into customers(name) values ('Ada'), ('Bob'), ('Cem'), ('Dia');
insert into orders(customer, total, state) values (1, 60, 'paid'), (1, 70, 'paid'), (2, 100, 'paid'), (3, 500, 'cancelled'), (4, 300, 'paid');
""")
END
