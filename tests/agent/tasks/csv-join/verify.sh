[ -f joined.csv ] && python3 - <<'END'
import csv
rows = list(csv.reader(open("joined.csv", newline="")))
assert rows == [["id", "name", "city"], ["2", 'Turing, "Al"', "Wilmslow"], ["9", "Grace", "Arlington, VA"], ["10", "Lovelace, Ada", "London"]], rows
END
