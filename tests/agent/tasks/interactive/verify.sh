[ "$(cat config.ini 2>/dev/null)" = "$(printf 'name = depot\nport = 8080')" ]
