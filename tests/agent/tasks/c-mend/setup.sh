cat >reverse.c <<'END'
#include <stdio.h>
#include <string.h>

static void reverse(char *text) {
  size_t size = strlen(text);
  for (size_t at = 0; at < size / 2; ++at) {
    char other = text[size - at];
    text[size - at] = text[at];
    text[at] = other;
  }
}

int main(int count, char **arguments) {
  for (int each = 1; each <= count; ++each) {
    reverse(arguments[each]);
    puts(arguments[each]);
  }
  return 0;
}
END
printf 'test: reverse\n\t./test.sh\nreverse: reverse.c\n\tgcc -O1 -Wall -o $@ $<\n' >Makefile
printf '#!/bin/sh\n[ "$(./reverse abc lager)" = "$(printf "cba\\nregal")" ] && [ "$(./reverse)" = "" ]\n' >test.sh
chmod +x test.sh
sha256sum test.sh >../test.sum
