[ "$(cat fahrenheit.txt 2>/dev/null)" = "$(printf '32\n212\n99\n-40\n70')" ] && [ "$(cat warmest.txt)" = 212 ]
