[ "$(cat deep/er/greeting.txt 2>/dev/null)" = "good evening from er" ]
