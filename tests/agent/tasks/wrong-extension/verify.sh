[ "$(cat data/tree/alpha data/tree/beta 2>/dev/null || cat data/alpha data/beta 2>/dev/null)" = "$(printf 'alpha\nbeta')" ]
