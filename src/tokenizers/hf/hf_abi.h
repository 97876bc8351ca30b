/* The C ABI of the Rust crate `parlance-hf` (src/lib.rs), which reads Hugging Face's tokenizer.json.
 *
 * Only hf_json.cpp includes it. No function throws, unwinds or aborts for what a file or a text holds: a panic inside
 * Rust comes back as an error of kind PARLANCE_HF_PANIC. There is no state but what parlance_hf_open gives. Any number
 * of threads may use one parlance_hf at once; parlance_hf_free must be the last. Texts are pointer and size, no zero
 * at the end. Begin reading at parlance_hf_open.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct parlance_hf parlance_hf;

/* Bytes of Rust's own: the caller gives them back with parlance_hf_bytes_free. */
typedef struct {
  uint8_t* data;
  size_t size;
} parlance_hf_bytes;

enum {
  PARLANCE_HF_OK = 0,
  PARLANCE_HF_JSON = 1,      /* not JSON: line and column say where */
  PARLANCE_HF_DAMAGED = 2,   /* JSON, but no tokenizer, or one that is refused */
  PARLANCE_HF_NOT_UTF8 = 3,  /* the text is not UTF-8: `column` is the byte */
  PARLANCE_HF_REFUSED = 4,   /* the tokenizer refuses the text */
  PARLANCE_HF_TOO_LARGE = 5, /* the file or the text is over its limit */
  PARLANCE_HF_PANIC = 6      /* the crate gave up in the middle */
};

/* What went wrong. `kind` PARLANCE_HF_OK: nothing, and there is nothing to free. */
typedef struct {
  uint32_t kind;
  uint32_t line; /* from 1; 0 where there is no place */
  uint64_t column;
  parlance_hf_bytes message;
} parlance_hf_error;

enum {
  PARLANCE_HF_SPECIAL = 1,
  PARLANCE_HF_LSTRIP = 2,
  PARLANCE_HF_RSTRIP = 4,
  PARLANCE_HF_NORMALIZED = 8,
  PARLANCE_HF_SINGLE_WORD = 16,
  PARLANCE_HF_CONTROL = 32, /* not only white space, or what stands for a blank in a vocabulary */
  PARLANCE_HF_NAMED = 64,   /* of a token to add: a configuration gives it a name: eos_token */
  PARLANCE_HF_LEGACY = 128, /* of a token to add: added_tokens.json numbers it */
  PARLANCE_HF_OF_FILE = 256 /* of a token to add: the file that the JSON was made of has it, so it is no news */
};

typedef struct {
  int32_t id;
  uint32_t flags;
  const uint8_t* text;
  size_t size;
} parlance_hf_added;

/* Views of what a parlance_hf knows of itself; they live as long as it does. */
typedef struct {
  const uint8_t* kind; /* "BPE" */
  size_t kind_size;
  uint64_t vocabulary_size;       /* one past the highest id */
  int32_t unk;                    /* -1: none */
  const parlance_hf_added* added; /* ascending by id */
  size_t added_count;
  const int32_t* before; /* what the post-processor puts before one text */
  size_t before_count;
  const int32_t* after;
  size_t after_count;
  const uint8_t* notes; /* lines for people */
  size_t notes_size;
  const uint8_t* shape; /* the normaliser, the pre-tokeniser, BPE's settings as JSON, a line each; see shape.rs */
  size_t shape_size;
  const int32_t* markers; /* pieces of the model's own vocabulary written like control tokens: <|user|>; ascending */
  size_t marker_count;
  uint32_t keeps_text; /* 1: of no text anything is dropped, see parlance_hf_encode */
} parlance_hf_facts;

typedef struct {
  uint32_t begin;
  uint32_t end;
} parlance_hf_span;

/* Spans of Rust's own: the caller gives them back with parlance_hf_spans_free. */
typedef struct {
  parlance_hf_span* data;
  size_t size;
  size_t capacity;
} parlance_hf_spans;

typedef struct {
  int32_t id;
  uint32_t begin;
  uint32_t end;
  uint32_t added; /* 0 or 1 */
} parlance_hf_token;

/* Tokens of Rust's own: the caller gives them back with parlance_hf_tokens_free. */
typedef struct {
  parlance_hf_token* data;
  size_t size;
  size_t capacity;
} parlance_hf_tokens;

/* How to encode. `guarded` 0: the tokenizer's own way, the rest is not looked at. Otherwise a control token is made
 * only of bytes inside one of `trusted` (ascending, disjoint). `control` are ids that count as control tokens besides
 * those of the file, ascending: pieces of the model's vocabulary that look like one. */
typedef struct {
  uint32_t guarded;
  const parlance_hf_span* trusted;
  size_t trusted_count;
  const int32_t* control;
  size_t control_count;
  const uint32_t* cuts;
  size_t cut_count;
} parlance_hf_ways;

/* Reads a tokenizer.json. Null and `error` filled where it is none, or one that could use up the memory: a file of over
 * 512 MiB, or a normaliser that makes a text 65536 times as long. `more` are tokens to add to those of the file: those
 * with an id of 0 or more by their ids, which say no more than the order, the others (-1) behind them where no added
 * token has their text. One whose text is there already has these flags from now on; one that is new gets the id of its
 * text in the model's vocabulary, or the next one behind all. */
parlance_hf* parlance_hf_open(const uint8_t* json, size_t size, const parlance_hf_added* more, size_t more_count,
                              parlance_hf_error* error);
void parlance_hf_free(parlance_hf* tokenizer);

void parlance_hf_get_facts(const parlance_hf* tokenizer, parlance_hf_facts* into);

/* The tokens of a text of at most 256 MiB. `dropped`, unless it is null: the parts of the text of which there is no
 * token, ascending and apart; see dropped.rs. 0 and `error` filled on failure; then there is nothing to free in `into`
 * and `dropped`. */
int parlance_hf_encode(const parlance_hf* tokenizer, const uint8_t* text, size_t size, const parlance_hf_ways* ways,
                       parlance_hf_tokens* into, parlance_hf_spans* dropped, parlance_hf_error* error);

/* The bytes a token stands for when it follows another; empty for an id that there is not. */
parlance_hf_bytes parlance_hf_token_text(const parlance_hf* tokenizer, int32_t id);

void parlance_hf_bytes_free(parlance_hf_bytes bytes);
void parlance_hf_tokens_free(parlance_hf_tokens tokens);

/* A text cut into words by regular expressions, for tokenizers that are no tokenizer.json. The syntax is Oniguruma's
 * for Java: classes with &&, look-around, possessive quantifiers. */
typedef struct parlance_hf_splitter parlance_hf_splitter;
typedef struct {
  const uint8_t* data;
  size_t size;
} parlance_hf_text;

/* Null and `error` filled for a pattern that is none. */
parlance_hf_splitter* parlance_hf_splitter_open(const parlance_hf_text* patterns, size_t count,
                                                parlance_hf_error* error);
void parlance_hf_splitter_free(parlance_hf_splitter* splitter);
/* The words of a text of at most 256 MiB, ascending, none empty. Each pattern cuts the words that the ones before made,
 * as if a word were all the text; what it does not match is a word too, or with `drop_rest` is none. 0 and `error`
 * filled on failure; then there is nothing to free in `into`. */
int parlance_hf_split(const parlance_hf_splitter* splitter, parlance_hf_text text, uint32_t drop_rest,
                      parlance_hf_spans* into, parlance_hf_error* error);
void parlance_hf_spans_free(parlance_hf_spans spans);

#ifdef __cplusplus
}
#endif
