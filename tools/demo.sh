#!/bin/sh
# Renders the example conversation of every built-in format, coloured by origin on a terminal: `demo.sh path/to/parlance`.
set -eu
parlance=$1
color=
if [ -t 1 ]; then color=--color; fi
"$parlance" render --list | sed -n 's/^\([^ ][^ ]*\).*/\1/p' | while read -r format; do
  printf '\n==== %s\n' "$format"
  "$parlance" render -f "$format" --example --now 2026-03-14 $color
done
printf '\n\nThe requests are in formats/examples. Where every byte came from:\n  %s render -f terminal-agent --example --json\n' "$parlance"
