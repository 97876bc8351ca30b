[ -f report.json ] && python3 - <<'END'
import json
wanted = {"_broken": 0}
for line in open("events.jsonl", encoding="utf-8"):
    try:
        one = json.loads(line)
    except ValueError:
        wanted["_broken"] += 1
        continue
    user = wanted.setdefault(one["user"], {"count": 0, "last": 0})
    user["count"] += 1
    user["last"] = max(user["last"], one["time"])
assert wanted["_broken"] == 4 and json.load(open("report.json", encoding="utf-8")) == wanted
END
