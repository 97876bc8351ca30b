word=$(cat room*/shelf*/box.txt)
[ -f word.txt ] && [ "$(cat word.txt)" = "$(echo "${word##* }" | tr a-z A-Z)" ]
