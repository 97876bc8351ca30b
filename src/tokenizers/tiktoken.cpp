// A tiktoken file: a line for each token, its bytes in base64 and its rank. How text is split into words it does not
// say, nor which special tokens there are: the options do, or what stands beside it, or its name. Begin reading at
// open_tiktoken.
#include "tokenizers/tiktoken.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/base64.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "sources/files.h"
#include "tokenizers/adapters.h"
#include "tokenizers/refused.h"
#include "tokenizers/split_names.h"
#include "tokens/tokenizer/control_matcher.h"

namespace parlance {
namespace {

constexpr std::string_view kEnding = ".tiktoken";

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// "IQ== 0": bytes and rank.
bool read_line(std::string_view line, std::string& bytes, std::size_t& rank) {
  const std::size_t blank = line.find(' ');
  if (blank == line.npos || blank == 0) return false;
  std::size_t wrong = 0;
  bytes.clear();
  if (!decode_base64(line.substr(0, blank), bytes, wrong) || bytes.empty()) return false;
  const std::string_view number = line.substr(blank + 1);
  const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), rank);
  return problem == std::errc() && end == number.data() + number.size();
}

Result<std::vector<std::string>> read_ranks(std::string_view text, const std::string& path) {
  std::vector<std::string> ranks;
  std::string bytes;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = next_line(text);
    if (line.empty()) continue;
    std::size_t rank = 0;
    const auto at_line = [&](const std::string& what) {
      return refused(path, "line " + std::to_string(number) + ": " + what);
    };
    if (!read_line(line, bytes, rank)) return at_line("not a token's bytes in base64, a blank and a rank");
    if (rank >= kMostRanks) return at_line("a rank of " + std::to_string(kMostRanks) + " or more");
    if (ranks.size() <= rank) ranks.resize(rank + 1);
    if (!ranks[rank].empty()) return at_line("rank " + std::to_string(rank) + " stands there twice");
    ranks[rank] = bytes;
  }
  return ranks;
}

/// Names have no signs but these; a regular expression has others.
bool is_name(std::string_view split) {
  return std::all_of(split.begin(), split.end(), [](char c) { return ascii::is_word(c) || c == '-' || c == '.'; });
}

std::string names() {
  std::string all;
  for (const std::string_view name : tiktoken_names()) all.append(all.empty() ? "" : ", ").append(name);
  return all;
}

/// The encoding that a file is named after: cl100k_base.tiktoken.
std::string_view encoding_of(std::string_view path) {
  std::string_view name = file_name_of(path);
  if (name.ends_with(kEnding)) name.remove_suffix(kEnding.size());
  return is_tiktoken_name(name) ? name : std::string_view();
}

Error no_split(std::string_view split) {
  NearestName nearest(split);
  for (const std::string_view name : tiktoken_names()) nearest.offer(name);
  return Error(ErrorCode::usage, "no way to split text is called '" + std::string(split) + "'")
      .hint(nearest.best().empty() ? gguf_split_hint(split) : nearest.hint());
}

Result<void> choose_split(std::string_view split, const std::string& path, RankParts& parts) {
  if (split.empty()) {
    return refused(path, "a tiktoken file does not say how text is split into words",
                   "the option split names it (" + names() +
                       ", or a value of GGUF's tokenizer.ggml.pre), or has a regular expression");
  }
  parts.patterns = split_patterns(split);
  parts.drop_rest = parts.patterns.empty() || is_tiktoken_name(split);
  if (parts.patterns.empty() && is_name(split)) return no_split(split);
  if (parts.patterns.empty()) parts.patterns = {std::string(split)};
  return {};
}

/// Of the options, of the files beside, of the encoding: the first that has any.
void choose_marks(std::string_view encoding, const TiktokenOptions& options, std::span<const AddedToken> added,
                  RankParts& parts) {
  for (const std::string& text : options.special_tokens)
    parts.marks.push_back({static_cast<std::int64_t>(parts.ranks.size() + parts.marks.size()), text, true});
  if (!parts.marks.empty()) return;
  for (const AddedToken& token : added) {
    if (token.id >= 0) parts.marks.push_back({token.id, token.text, token.special});
  }
  if (!parts.marks.empty()) return;
  for (const TiktokenMark& mark : tiktoken_marks()) {
    if (mark.encoding == encoding) parts.marks.push_back({mark.id, std::string(mark.text), true});
  }
}

// ---- of ranks

Result<void> check_marks(const RankParts& parts, std::size_t& size, const std::string& path) {
  std::unordered_map<std::string_view, std::int64_t> texts;
  for (const RankMark& mark : parts.marks) {
    if (mark.text.empty() || !utf8::is_valid(mark.text, false))
      return refused(path, "a special token without text, or not in UTF-8");
    if (mark.id < 0 || static_cast<std::uint64_t>(mark.id) >= 2 * kMostRanks)
      return refused(path, "the special token '" + mark.text + "' has the id " + std::to_string(mark.id));
    if (!texts.emplace(mark.text, mark.id).second)
      return refused(path, "the special token '" + mark.text + "' stands there twice");
    size = std::max(size, static_cast<std::size_t>(mark.id) + 1);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> rank_tokenizer(RankParts parts, const std::string& path) {
  std::size_t size = parts.first_id + parts.ranks.size();
  if (Result<void> checked = check_marks(parts, size, path); !checked) return checked.error();
  Result<Splitter> splitter = Splitter::make(parts.patterns, {.drop_rest = parts.drop_rest});
  if (!splitter) return refused(path, std::string(splitter.error().message()), std::string(splitter.error().hint()));
  MergingParts made;
  made.splitter = std::move(*splitter);
  made.facts.kind = parts.kind;
  made.facts.named = std::move(parts.named);
  made.texts.resize(size);
  made.merging.texts.resize(size);
  made.merging.priorities.resize(size);
  for (std::size_t rank = 0; rank < parts.ranks.size(); ++rank) {
    const std::size_t id = parts.first_id + rank;
    if (parts.ranks[rank].size() == 1)
      made.bytes[static_cast<std::uint8_t>(parts.ranks[rank][0])] = static_cast<TokenId>(id);
    made.merging.priorities[id] = -static_cast<float>(rank);
    made.texts[id] = parts.ranks[rank];
    made.merging.texts[id] = std::move(parts.ranks[rank]);
  }
  made.merging.from_bytes = made.merging.whole_words = true;
  std::sort(parts.marks.begin(), parts.marks.end(), [](const RankMark& a, const RankMark& b) { return a.id < b.id; });
  for (RankMark& mark : parts.marks) {
    const auto id = static_cast<std::size_t>(mark.id);
    if (!made.texts[id].empty())
      return refused(path,
                     "the special token '" + mark.text + "' has the id " + std::to_string(id) + " of another token");
    made.texts[id] = mark.text;
    AddedToken token{.id = static_cast<TokenId>(id), .text = std::move(mark.text), .special = mark.special};
    token.control = !is_blank(token.text) && (token.special || is_control_text(token.text));
    made.facts.added.push_back(std::move(token));
  }
  return merging_tokenizer(std::move(made));
}

bool is_tiktoken(std::string_view bytes) {
  std::string token;
  std::size_t rank = 0;
  constexpr std::size_t kMost = 1000;
  std::string_view start = bytes.substr(0, kMost);
  return start.find('\n') != start.npos && read_line(next_line(start), token, rank);
}

Result<std::unique_ptr<Tokenizer>> open_tiktoken(std::string_view text, const std::string& path,
                                                 const TiktokenOptions& options, std::span<const AddedToken> added) {
  Result<std::vector<std::string>> ranks = read_ranks(text, path);
  if (!ranks) return ranks.error();
  RankParts parts;
  parts.ranks = std::move(*ranks);
  const std::string_view encoding = encoding_of(path);
  const std::string_view split = options.split.empty() ? encoding : std::string_view(options.split);
  if (Result<void> chosen = choose_split(split, path, parts); !chosen) return chosen.error();
  choose_marks(is_tiktoken_name(split) ? split : encoding, options, added, parts);
  parts.kind =
      "tiktoken, split as " + (is_name(split) ? std::string(split) : "by a regular expression of the caller's");
  return rank_tokenizer(std::move(parts), path);
}

}  // namespace parlance
