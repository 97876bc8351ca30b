python3 - <<'END'
import json, random
names = ["zoë", "adam", "mei", 'o"brien']
with open("events.jsonl", "w", encoding="utf-8") as file:
    for number in range(200):
        file.write(json.dumps({"user": random.choice(names), "time": random.randrange(10**6), "kind": "click"}, ensure_ascii=number % 2 == 0) + "\n")
        if number % 50 == 7:
            file.write('{"user": "adam", "time": 99\n')
END
