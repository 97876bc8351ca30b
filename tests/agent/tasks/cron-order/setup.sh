mkdir daily
printf '#!/bin/sh\necho two >>order\n' >daily/2-two
printf '#!/bin/sh\necho three >>order; exit 7\n' >daily/3-three
printf '#!/bin/sh\necho ten >>order\n' >daily/10-ten
printf '#!/bin/sh\necho never >>order\n' >daily/1-off
chmod +x daily/2-two daily/3-three daily/10-ten
