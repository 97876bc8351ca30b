// What this library makes of texts with a tokenizer.json, for tokenizer_oracle.py to compare with `tokenizers`.
//
// token_dump FILE, or a folder with files beside it; or token_dump --open PATH [SPLIT SPECIAL... | --as-transformers]
// for any kind that open_tokenizer() takes. Standard output: first a line of facts (see print_facts) or "error", code
// and message. Standard input: "own HEX", "guarded HEX begin end begin end ..." (trusted ranges) or "text ID". For each
// a line comes back: "ok" and for each token id:begin:end:added; "text" and its bytes; or "error" as above. Texts are
// in hexadecimal. With --time COUNT instead: nanoseconds for each of COUNT encodings of standard input, own way and
// guarded (nothing trusted, and all), and how many tokens. Begin reading at main().
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "oracle/hex.h"
#include "tokenizers/adapters.h"

namespace {

using parlance::ByteSpan;
using parlance::EncodedToken;
using parlance::Tokenizer;

void print_error(const parlance::Error& error) {
  std::cout << "error " << parlance::facts(error.code()).name << ' ' << error.where().line << ' '
            << to_hex(error.message()) << std::endl;
}

/// facts VOCABULARY UNK before id... after id... added id:flags:text...
void print_facts(const parlance::TokenizerFacts& facts) {
  std::cout << "facts " << facts.vocabulary_size << ' ' << facts.unk.value_or(-1) << " before";
  for (const auto id : facts.puts_before) std::cout << ' ' << id;
  std::cout << " after";
  for (const auto id : facts.puts_after) std::cout << ' ' << id;
  std::cout << " added";
  for (const parlance::AddedToken& token : facts.added) {
    const int flags = token.special | token.lstrip << 1 | token.rstrip << 2 | token.normalized << 3 |
                      token.single_word << 4 | token.control << 5;
    std::cout << ' ' << token.id << ':' << flags << ':' << to_hex(token.text);
  }
  std::cout << std::endl;
}

void print_tokens(const Tokenizer& tokenizer, const std::string& text, const std::vector<ByteSpan>* trusted) {
  std::vector<EncodedToken> tokens;
  if (const auto encoded = tokenizer.encode(text, trusted, tokens); !encoded) return print_error(encoded.error());
  std::cout << "ok";
  for (const EncodedToken& token : tokens) {
    std::cout << ' ' << token.id << ':' << token.bytes.begin << ':' << token.bytes.end << ':' << token.added;
  }
  std::cout << '\n';
}

void answer(const Tokenizer& tokenizer, const std::string& line) {
  std::istringstream words(line);
  std::string way, hex;
  words >> way >> hex;
  if (way == "text") {
    std::cout << "text " << to_hex(tokenizer.token_text(std::stoi(hex))) << '\n';
    return;
  }
  if (hex == "-") hex.clear();
  std::vector<ByteSpan> trusted;
  for (ByteSpan span; words >> span.begin >> span.end;) trusted.push_back(span);
  print_tokens(tokenizer, from_hex(hex), way == "guarded" ? &trusted : nullptr);
}

void time_one(const Tokenizer& tokenizer, const std::string& text, const std::vector<ByteSpan>* trusted,
              const char* name) {
  std::vector<EncodedToken> tokens;
  const auto begin = std::chrono::steady_clock::now();
  if (!tokenizer.encode(text, trusted, tokens)) std::cout << "failed ";
  const auto spent = std::chrono::steady_clock::now() - begin;
  std::cout << name << ' ' << std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count() << ' '
            << tokens.size() << '\n';
}

void time_all(const Tokenizer& tokenizer, int count) {
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const std::vector<ByteSpan> none;
  const std::vector<ByteSpan> all = {{0, static_cast<std::uint32_t>(text.size())}};
  for (int i = 0; i < count; ++i) {
    time_one(tokenizer, text, nullptr, "own");
    time_one(tokenizer, text, &none, "untrusted");
    time_one(tokenizer, text, &all, "trusted");
  }
}

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What stands behind --open PATH: how a tiktoken file splits text, and its special tokens.
parlance::TokenizerOptions options_of(int argc, char** argv) {
  parlance::TokenizerOptions options;
  options.sentencepiece.as_transformers = argc > 3 && std::string_view(argv[3]) == "--as-transformers";
  if (argc > 3 && !options.sentencepiece.as_transformers) options.tiktoken.split = argv[3];
  for (int i = 4; i < argc; ++i) options.tiktoken.special_tokens.emplace_back(argv[i]);
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  if (argc < 2) return 2;
  const bool any_kind = argc >= 3 && std::string_view(argv[1]) == "--open";
  const bool is_folder = std::filesystem::is_directory(argv[1]);
  const auto tokenizer = any_kind    ? parlance::open_tokenizer(argv[2], options_of(argc, argv))
                         : is_folder ? parlance::open_tokenizer(argv[1])
                                     : parlance::open_hf_json(read_file(argv[1]), argv[1]);
  if (!tokenizer) {
    print_error(tokenizer.error());
    return 0;
  }
  if (!any_kind && argc == 4) {
    time_all(**tokenizer, std::stoi(argv[3]));
    return 0;
  }
  print_facts((*tokenizer)->facts());
  for (std::string line; std::getline(std::cin, line);) answer(**tokenizer, line);
}
