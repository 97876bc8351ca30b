cat >people.csv <<'END'
id,name
10,"Lovelace, Ada"
9,Grace
2,"Turing, ""Al"""
30,Edsger
END
cat >cities.csv <<'END'
id,city
2,Wilmslow
10,London
9,"Arlington, VA"
END
