[ "$(cat spenders.txt 2>/dev/null)" = "$(printf 'Dia: 300\nAda: 130')" ]
