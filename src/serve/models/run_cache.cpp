// Remembers pieces of prompts. Begin reading at RunCache::encode_and_find_dropped.
#include "serve/models/run_cache.h"

#include <algorithm>
#include <span>

namespace parlance::serve {

RunCache::RunCache(std::unique_ptr<Tokenizer> tokenizer, std::size_t bytes)
    : tokenizer_(std::move(tokenizer)), most_(bytes / kShards / 4) {
  facts_ = tokenizer_->facts();
  read_marks();
  constexpr std::size_t kMostTexts = std::size_t{1} << 20;
  if (facts_.vocabulary_size > kMostTexts) return;
  for (std::size_t id = 0; id < facts_.vocabulary_size; ++id)
    texts_.push_back(tokenizer_->token_text(static_cast<TokenId>(id)));
}

/// All texts that the tokenizer searches the prompt itself for, since one may hold another.
void RunCache::read_marks() {
  const std::vector<TokenId>& symbols = facts_.symbols;
  std::vector<std::string> texts;
  for (const AddedToken& token : facts_.added) {
    if (token.text.empty() || token.normalized) continue;
    const bool is_symbol = std::find(symbols.begin(), symbols.end(), token.id) != symbols.end();
    const bool blank = std::string_view(" \t\r\n").find(token.text[0]) != std::string_view::npos;
    const bool cuts = token.special && !token.lstrip && !token.single_word && !is_symbol && !blank;
    marks_.push_back({.bytes = token.text.size(), .id = token.id, .cuts = cuts});
    texts.push_back(token.text);
  }
  search_ = TextSearch(texts);
}

std::string RunCache::text_of(TokenId id) const {
  const auto at = static_cast<std::size_t>(id);
  return id >= 0 && at < texts_.size() ? texts_[at] : std::string();
}

std::vector<RunCache::Piece> RunCache::pieces_of(std::string_view text) const {
  std::vector<Piece> pieces = {{}};
  for (std::size_t at = 0;;) {
    const std::optional<TextSearch::Match> found = search_.find(text, at);
    if (!found) return pieces;
    const Mark& mark = marks_[found->number];
    if (mark.cuts && found->begin > 0) pieces.push_back({found->begin, &mark});
    at = found->begin + mark.bytes;
  }
}

namespace {

bool begins_with(const auto& encoded, TokenId mark) {
  return !encoded.tokens.empty() && encoded.tokens.front().id == mark && encoded.tokens.front().added;
}

/// What a text and its tokens take, with what the map and the allocator need for each: most texts are short.
std::size_t size_of_entry(std::string_view key, const auto& encoded) {
  constexpr std::size_t kOfAnEntry = 264;
  return kOfAnEntry + key.size() + encoded.tokens.capacity() * sizeof(EncodedToken) +
         encoded.dropped.capacity() * sizeof(ByteSpan);
}

}  // namespace

RunCache::Tokens RunCache::find(Shard& shard, std::string_view key) const {
  const std::lock_guard lock(shard.mutex);
  const auto newer = shard.newer.find(key);
  if (newer != shard.newer.end()) return newer->second.second;
  const auto older = shard.older.find(key);
  if (older == shard.older.end()) return nullptr;
  Tokens tokens = older->second.second;
  const std::size_t bytes = size_of_entry(key, *tokens);
  auto moved = shard.older.extract(older);
  shard.older_bytes -= bytes;
  make_room(shard, bytes);
  shard.bytes += bytes;
  shard.newer.insert(std::move(moved));
  return tokens;
}

/// Under the shard's lock: for what becomes one of the newer.
void RunCache::make_room(Shard& shard, std::size_t bytes) const {
  if (shard.bytes + bytes <= most_) return;
  shard.older = std::exchange(shard.newer, {});
  shard.older_bytes = std::exchange(shard.bytes, 0);
}

void RunCache::keep(Shard& shard, std::string_view key, Tokens tokens) const {
  const std::size_t bytes = size_of_entry(key, *tokens);
  if (bytes > most_) return;
  auto text = std::make_unique<std::string>(key);
  const std::string_view view = *text;
  const std::lock_guard lock(shard.mutex);
  make_room(shard, bytes);
  if (shard.newer.try_emplace(view, std::move(text), std::move(tokens)).second) shard.bytes += bytes;
}

/// The tokens of a piece, by its own bytes. The text's begin is another piece than the same behind a control token.
Result<RunCache::Tokens> RunCache::tokens_of(std::string_view piece, const Mark* mark) const {
  const std::size_t number = std::hash<std::string_view>()(piece) / 64 % kShards;
  Shard& shard = shards_[mark != nullptr ? number : kShards + number];
  if (Tokens known = find(shard, piece)) return known;
  Encoded encoded;
  std::vector<EncodedToken>& made = encoded.tokens;
  const Result<void> done = tokenizer_->encode_and_find_dropped(piece, nullptr, made, encoded.dropped);
  if (!done) return done.error();
  if (mark != nullptr) {
    // What a tokenizer puts before a text, it does not put before a control token in its middle.
    const auto first = std::find_if(made.begin(), made.end(),
                                    [](const EncodedToken& token) { return token.bytes.begin != token.bytes.end; });
    made.erase(made.begin(), first);
  }
  made.shrink_to_fit();
  auto tokens = std::make_shared<const Encoded>(std::move(encoded));
  keep(shard, piece, tokens);
  return Tokens(std::move(tokens));
}

Result<void> RunCache::encode_and_find_dropped(std::string_view text, const std::vector<ByteSpan>* trusted,
                                               std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped) const {
  if (trusted != nullptr || marks_.empty()) return tokenizer_->encode_and_find_dropped(text, trusted, into, dropped);
  const std::vector<Piece> pieces = pieces_of(text);
  const std::size_t before = into.size(), dropped_before = dropped.size();
  for (std::size_t number = 0; number < pieces.size(); ++number) {
    const std::size_t begin = pieces[number].begin;
    const std::size_t end = number + 1 < pieces.size() ? pieces[number + 1].begin : text.size();
    const Mark* mark = pieces[number].mark;
    if (mark == nullptr && begin == end) continue;
    const Result<Tokens> tokens = tokens_of(text.substr(begin, end - begin), mark);
    const bool begins_right = tokens && (mark == nullptr || begins_with(**tokens, mark->id));
    if (!begins_right) {  // an error counts bytes from the whole text's begin
      into.resize(before);
      dropped.resize(dropped_before);
      return tokenizer_->encode_and_find_dropped(text, nullptr, into, dropped);
    }
    const auto offset = static_cast<std::uint32_t>(begin);
    const std::size_t at = into.size();
    into.insert(into.end(), (*tokens)->tokens.begin(), (*tokens)->tokens.end());
    for (EncodedToken& token : std::span(into).subspan(at)) {
      token.bytes.begin += offset;
      token.bytes.end += offset;
    }
    for (const ByteSpan& bytes : (*tokens)->dropped) dropped.push_back({bytes.begin + offset, bytes.end + offset});
  }
  return {};
}

std::size_t RunCache::used() const {
  std::size_t bytes = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    bytes += shard.bytes + shard.older_bytes;
  }
  return bytes;
}

}  // namespace parlance::serve
