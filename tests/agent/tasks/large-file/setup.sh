python3 - <<'END'
import random
lines = [f"{number:08d} all is well, nothing happens here and nobody listens\n" for number in range(90000)]
lines[random.randrange(1000, 80000)] = "NEEDLE\n"
open("big.log", "w").writelines(lines)
END
sha256sum <big.log >../big.sum
grep -n ^NEEDLE big.log | cut -d: -f1 >../big.line
