cd site
[ "$(git rev-parse --abbrev-ref HEAD)" = main ]  || exit 1
[ "$(git rev-list --count HEAD)" = 1 ] || exit 1
[ "$(git log -1 --format=%s)" = "First version" ] || exit 1
[ "$(git ls-files)" = "$(printf '.gitignore\npages/about.html\npages/index.html')" ] || exit 1
[ -z "$(git status --porcelain)" ] && [ -f build/index.html ]
