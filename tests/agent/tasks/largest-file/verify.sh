[ -f largest.txt ] && [ "$(cat largest.txt)" = "$(cd stock && find . -size +8000c -type f | sed 's|^\./||')" ]
