cd inbox && [ "$(ls)" = "$(printf '%s.txt\n' 11 12 13 14 15 16)" ] && [ "$(cat *)" = "$(seq 11 16)" ]
