cd recipes
[ "$(git show HEAD:soup.txt)" = "$(printf 'soup: first try\nsoup: more salt')" ] || exit 1
[ -z "$(git status --porcelain)" ] && [ -f soup.txt ] && git log -1 --format=%s | grep -q soup.txt
