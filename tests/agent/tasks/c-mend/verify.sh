sha256sum -c ../test.sum >/dev/null && rm -f reverse && make -s test
