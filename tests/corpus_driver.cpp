// Runs cases of a conformance corpus through the library, for corpus_test.py.
//
// Standard input: one JSON object a line, {"id", "source", "context", "settings", "output" or "error", "generation",
// "newer"}; `context` and `settings` are JSON texts as strings, `source` is absent where it is the line before's.
// Standard output: "ID<tab>reason" for each case that differs, then "N of M equal". Begin reading at main.
#include <cstdio>
#include <iostream>
#include <string>

#include "case_run.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance::testing {
namespace {

const Value* member(const DictObject& dict, std::string_view name) {
  const DictEntry* entry = find_key(dict, name);
  return entry == nullptr ? nullptr : &entry->value;
}

std::string_view text_member(const DictObject& dict, std::string_view name) {
  const Value* v = member(dict, name);
  return v == nullptr || !v->is_leaf() ? std::string_view() : leaf_text(*v);
}

std::vector<CodePointRange> ranges_of(const Value* list) {
  std::vector<CodePointRange> ranges;
  for (std::uint32_t i = 0; list != nullptr && list->is_sequence() && i < list->list->size; ++i) {
    const Value pair = list->list->items[i];
    ranges.emplace_back(pair.list->items[0].integer, pair.list->items[1].integer);
  }
  return ranges;
}

/// Is it what `wanted` (an answer of the corpus) says? Otherwise what is different.
std::string difference(const DictObject& wanted, const Outcome& outcome) {
  if (const std::string_view error = text_member(wanted, "error"); !error.empty()) {
    if (!outcome.error) return "should fail: " + std::string(error);
    const std::string got(outcome.error->python_class());
    return same_class(error, got) ? "" : got + " for " + std::string(error) + ": " + outcome.error->message();
  }
  if (outcome.error) return "fails: " + std::string(outcome.error->python_class()) + ": " + outcome.error->message();
  if (outcome.text != text_member(wanted, "output")) return "other text";
  const Value* generation = member(wanted, "generation");
  return generation == nullptr || ranges_of(generation) == outcome.generation ? "" : "other generation spans";
}

class Corpus {
 public:
  /// Runs one line; false if it is not one.
  bool take(std::string_view line) {
    if (!document_.parse(line) || !document_.root().is(Kind::dict)) return false;
    const DictObject& entry = *document_.root().dict;
    if (member(entry, "source") != nullptr) source_ = text_member(entry, "source");
    Settings settings;
    settings.compile.transformers = kPlainTransformers;  // what was recorded is Jinja2's own
    if (!read_settings(text_member(entry, "settings"), settings).empty()) return false;
    const Outcome outcome = run_template(source_, text_member(entry, "context"), settings);
    const Value* newer = member(entry, "newer");
    const bool has_newer = newer != nullptr && newer->is(Kind::dict);
    const std::string what = difference(has_newer ? *newer->dict : entry, outcome);
    ++total_;
    equal_ += what.empty();
    if (!what.empty()) std::cout << text_member(entry, "id") << '\t' << what.substr(0, what.find('\n')) << '\n';
    return true;
  }
  void finish() const { std::cout << equal_ << " of " << total_ << " equal\n"; }

 private:
  Document document_;
  std::string source_;
  std::size_t total_ = 0;
  std::size_t equal_ = 0;
};

}  // namespace
}  // namespace parlance::testing

int main() {
  std::ios::sync_with_stdio(false);
  parlance::testing::Corpus corpus;
  for (std::string line; std::getline(std::cin, line);) {
    if (!corpus.take(line)) return std::cerr << "not a case: " << line.substr(0, 200) << '\n', 1;
  }
  corpus.finish();
  return 0;
}
