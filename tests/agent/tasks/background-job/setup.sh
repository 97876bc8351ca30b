seq $((RANDOM % 100 + 1)) >data.txt
printf '#!/bin/sh\nsleep 0.8\necho result $$ >.new && mv .new result.txt\n' >slow
chmod +x slow
