mkdir -p app/data
printf '#!/bin/sh\n[ "$(stat -c %%a secrets.env)" = 600 ] || exit 3\necho deployed >data/state\n' >app/deploy.sh
echo TOKEN=abc >app/secrets.env
chmod 644 app/deploy.sh app/secrets.env
chmod 777 app/data
