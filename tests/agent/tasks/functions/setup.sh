printf '0\n100\n37\n-40\n21\n' >temperatures.txt
