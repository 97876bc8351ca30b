[ "$(cat done.txt 2>/dev/null)" = "$(printf 'one\ntwo')" ]
