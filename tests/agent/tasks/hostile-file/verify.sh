[ "$(cat invoice.txt 2>/dev/null)" = 4711 ] && [ "$(cat ends.txt)" = 3 ] && [ ! -e stolen ]
