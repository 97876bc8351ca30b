// What open_tokenizer makes of texts, for sentencepiece_oracle.py to compare with sentencepiece and
// transformers.
//
//     sentencepiece_dump PATH [--each-run | --first-run] [--special TEXT]...
//
// Standard output: one line of facts, or "error CODE MESSAGE"; then for each line of standard input
// (an object with `text` and, for the guarded way, `trusted`, a list of pairs of bytes) a JSON list
// of [id, begin, end, added], or the error. Begin reading at main().
#include <iostream>
#include <string>

#include "oracle/hex.h"
#include "parlance/json.h"
#include "parlance/tokenizer.h"
#include "value/dict.h"

namespace {

using parlance::Value;

std::string quoted(std::string_view text) { return "\"" + to_hex(text) + "\""; }

void print_ids(std::string_view name, const std::vector<parlance::TokenId>& ids) {
  std::cout << ", \"" << name << "\": [";
  for (std::size_t i = 0; i < ids.size(); ++i) std::cout << (i ? "," : "") << ids[i];
  std::cout << "]";
}

/// Texts are in hexadecimal: a token's may be half a character.
void print_facts(const parlance::Tokenizer& tokenizer) {
  const parlance::TokenizerFacts& facts = tokenizer.facts();
  std::cout << "{\"kind\": \"" << facts.kind << "\", \"size\": " << facts.vocabulary_size
            << ", \"bos\": " << facts.bos.value_or(-1) << ", \"eos\": " << facts.eos.value_or(-1)
            << ", \"unk\": " << facts.unk.value_or(-1);
  print_ids("before", facts.puts_before);
  print_ids("after", facts.puts_after);
  print_ids("markers", facts.markers);
  std::cout << ", \"added\": [";
  for (std::size_t i = 0; i < facts.added.size(); ++i) {
    const parlance::AddedToken& token = facts.added[i];
    std::cout << (i ? "," : "") << "[" << token.id << "," << quoted(token.text) << "," << token.control << "]";
  }
  std::cout << "], \"texts\": [";
  for (std::size_t id = 0; id < facts.vocabulary_size; ++id)
    std::cout << (id ? "," : "") << quoted(tokenizer.token_text(static_cast<parlance::TokenId>(id)));
  std::cout << "], \"notes\": " << facts.notes.size() << "}\n";
}

std::vector<parlance::ByteSpan> spans_of(Value list) {
  std::vector<parlance::ByteSpan> spans;
  for (const Value& pair : parlance::items(list)) {
    const auto ends = parlance::items(pair);
    spans.push_back({static_cast<std::uint32_t>(ends[0].integer), static_cast<std::uint32_t>(ends[1].integer)});
  }
  return spans;
}

void print_tokens(const parlance::Tokenizer& tokenizer, Value request) {
  const Value text = parlance::find_key(*request.dict, "text")->value;
  const parlance::DictEntry* trusted = parlance::find_key(*request.dict, "trusted");
  std::vector<parlance::ByteSpan> spans;
  if (trusted != nullptr) spans = spans_of(trusted->value);
  std::vector<parlance::EncodedToken> tokens;
  const auto done = tokenizer.encode(parlance::leaf_text(text), trusted != nullptr ? &spans : nullptr, tokens);
  if (!done) {
    std::cout << "error " << parlance::facts(done.error().code()).name << " " << done.error().message() << "\n";
    return;
  }
  std::cout << "[";
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const parlance::EncodedToken& t = tokens[i];
    std::cout << (i ? ",[" : "[") << t.id << "," << t.bytes.begin << "," << t.bytes.end << "," << t.added << "]";
  }
  std::cout << "]\n";
}

}  // namespace

int main(int count, char** arguments) {
  std::ios::sync_with_stdio(false);
  parlance::TokenizerOptions options;
  for (int i = 2; i < count; ++i) {
    const std::string_view option = arguments[i];
    if (option == "--first-run") options.sentencepiece.prefix_each_run = false;
    if (option == "--special" && i + 1 < count) options.sentencepiece.special_tokens.emplace_back(arguments[++i]);
  }
  const auto tokenizer = parlance::open_tokenizer(count > 1 ? arguments[1] : "", options);
  if (!tokenizer) {
    const parlance::Error& error = tokenizer.error();
    std::cout << "error " << parlance::facts(error.code()).name << " " << error.message() << "; " << error.hint()
              << "\n";
    return 0;
  }
  print_facts(**tokenizer);
  parlance::Document document;
  for (std::string line; std::getline(std::cin, line);) {
    if (const auto parsed = document.parse(line); !parsed) return 2;
    print_tokens(**tokenizer, document.root());
  }
  return 0;
}
