[ -s result.txt ] && [ "$(cat lines.txt)" = "$(wc -l <data.txt; cat result.txt)" ]
