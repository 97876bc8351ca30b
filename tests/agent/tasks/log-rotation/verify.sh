[ -f rotate.sh ] && [ ! -s app.log ] && [ -f app.log ] || exit 1
[ "$(cat app.log.1 app.log.2 app.log.3)" = "$(printf 'now\nyesterday\nbefore')" ] || exit 1
echo later >app.log
bash rotate.sh && [ "$(cat app.log.1 app.log.2 app.log.3)" = "$(printf 'later\nnow\nyesterday')" ] && [ ! -e app.log.4 ] || exit 1
rm app.log
bash rotate.sh && [ ! -e app.log ] && [ "$(cat app.log.1)" = later ]
