cd shop
[ "$(git rev-parse --abbrev-ref HEAD)" = main ] || exit 1
[ "$(git rev-list --parents -1 HEAD | wc -w)" = 3 ] || exit 1
[ "$(cat settings.ini)" = "$(printf 'port = 80\ntimeout = 10\nname = shop\ncache = on')" ] || exit 1
[ -z "$(git status --porcelain)" ] && git merge-base --is-ancestor faster HEAD
