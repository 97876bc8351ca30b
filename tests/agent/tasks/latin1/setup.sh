mkdir letters
printf 'Gr\374\337e aus K\366ln\n' >letters/koeln.txt
printf 'Grüße aus Zürich\n' >letters/zuerich.txt
printf 'Greetings from York\n' >letters/york.txt
printf '\311t\351\n' >letters/ete.txt
