sha256sum -c ../area.sum >/dev/null && rm -f area area.o && make -s >/dev/null && [ "$(cat two.txt)" = 12.566 ] && [ "$(./area 2)" = 12.566 ]
