[ "$(cat numbers.txt 2>/dev/null)" = "$(seq 5)" ] && timeout 5 ./count
