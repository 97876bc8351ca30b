[ -f culprit.txt ] || exit 1
cd calc
[ "$(cat ../culprit.txt)" = "$(git log --format=%H --grep='^Version 6$')" ] || exit 1
[ "$(git rev-parse --abbrev-ref HEAD)" = main ] && [ -z "$(git status --porcelain --untracked-files=no)" ]
