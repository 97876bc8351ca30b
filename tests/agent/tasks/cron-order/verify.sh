[ "$(cat order 2>/dev/null)" = "$(printf 'two\nthree\nten')" ] && [ "$(cat daily.log)" = "$(printf '2-two 0\n3-three 7\n10-ten 0')" ] || exit 1
bash run-daily.sh
[ $? = 1 ] && [ "$(wc -l <daily.log)" = 6 ]
