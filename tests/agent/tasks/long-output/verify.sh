[ -f .first ] && cmp .first password.txt
