[ "$(cat changed.txt 2>/dev/null)" = "$(printf 'ete.txt\nkoeln.txt')" ] || exit 1
[ "$(cat letters/*)" = "$(printf 'Été\nGrüße aus Köln\nGreetings from York\nGrüße aus Zürich')" ]
