mkdir logs
python3 - <<'END'
import gzip, random
random.seed()
addresses = [f"10.0.0.{n}" for n in random.sample(range(2, 250), 8)]
lines = []
for place, address in enumerate(addresses):
    for number in range(40):
        status = random.choice([500, 502, 503]) if number < 5 + 4 * place else random.choice([200, 301, 404])
        lines.append(f'{address} - - [26/Nov/2026:10:00:{number:02d} +0000] "GET /p{number}?code=500 HTTP/1.1" {status} {random.randrange(500, 600)}\n')
random.shuffle(lines)
open("logs/access.log", "w").writelines(lines[:150])
gzip.open("logs/access.log.1.gz", "wt").writelines(lines[150:])
END
