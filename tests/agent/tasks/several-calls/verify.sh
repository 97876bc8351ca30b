for name in a b c; do [ "$(cat $name.size 2>/dev/null)" = "$(stat -c %s $name.bin)" ] || exit 1; done
[ "$(cat sum.size)" = "$(cat a.bin b.bin c.bin | wc -c)" ]
