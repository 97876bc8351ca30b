cat >setup.py <<'END'
import sys
with open("/dev/tty" if "--from-stdin" not in sys.argv else "/dev/stdin") as answers:
    print("Run with --from-stdin to answer without a terminal.")
    given = []
    for question in ("Name?", "Port?", "Write it (y/n)?"):
        print(question, flush=True)
        given.append(answers.readline().strip())
if given[2] == "y":
    with open("config.ini", "w") as file:
        print(f"name = {given[0]}\nport = {int(given[1])}", file=file)
END
