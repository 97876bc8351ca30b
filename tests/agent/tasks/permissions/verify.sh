cd app
[ -x deploy.sh ] && [ "$(stat -c %a secrets.env)" = 600 ] && [ "$(stat -c %a data)" = 750 ] && [ "$(cat data/state)" = deployed ]
