[ -f worst.txt ] && [ "$(cat worst.txt)" = "$(zcat -f logs/* | awk '$9 >= 500 { n[$1]++ } END { for (a in n) print a, n[a] }' | sort -k2,2nr | head -3)" ]
