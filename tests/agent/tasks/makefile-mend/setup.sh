for number in 1 2 10; do printf 'Chapter %s\n' $number >chapter$number.txt; done
cat >Makefile <<'END'
CHAPTERS = $(wildcard chapter*.txt)

all: book.txt

book.txt: 
        cat $(CHAPTERS) > book.txt

.PHONY: all clean
END
