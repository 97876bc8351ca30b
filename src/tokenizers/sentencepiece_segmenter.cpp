// Cutting a normalised text into pieces. Begin reading at SpSegmenter::segment.
#include "tokenizers/sentencepiece_segmenter.h"

#include <algorithm>
#include <cfloat>
#include <queue>

#include "tokenizers/character_size.h"
#include "tokenizers/pieces.h"
#include "tokenizers/refused.h"

namespace parlance {
namespace {

constexpr float kUnknownPenalty = 10;

bool is_of_text(SpType type) {
  return type == SpType::normal || type == SpType::user_defined || type == SpType::unused;
}

}  // namespace

// ---- pieces

Result<void> SpSegmenter::add_byte(const SpModel& model, std::size_t id, const std::string& path) {
  const std::string piece = "piece " + std::to_string(id) + " ";
  if (!model.byte_fallback) return refused(path, piece + "is of a byte, and the model says that there are none");
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const std::string_view text = model.pieces[id].text;
  const bool fits = text.size() == 6 && text.starts_with("<0x") && text[5] == '>';
  const std::size_t high = fits ? kDigits.find(text[3]) : kDigits.npos,
                    low = fits ? kDigits.find(text[4]) : kDigits.npos;
  if (high == kDigits.npos || low == kDigits.npos) return refused(path, piece + "is of a byte, and its text is none");
  bytes_[high * 16 + low] = static_cast<std::int32_t>(id);
  return {};
}

Result<void> SpSegmenter::add_pieces(const SpModel& model, const SpChanges& changes, const std::string& path) {
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const SpType type = model.pieces[id].type;
    texts_.emplace_back(model.pieces[id].text);
    types_.push_back(type);
    scores_.push_back(model.pieces[id].score);
    if (type == SpType::unknown && unknown_ >= 0) return refused(path, "it has two pieces for unknown text");
    if (type == SpType::unknown) unknown_ = static_cast<std::int32_t>(id);
    if (type != SpType::byte) continue;
    if (Result<void> added = add_byte(model, id, path); !added) return added;
  }
  if (unknown_ < 0) return refused(path, "it has no piece for unknown text");
  const bool has_all = std::none_of(bytes_.begin(), bytes_.end(), [](std::int32_t id) { return id < 0; });
  if (model.byte_fallback && !has_all) return refused(path, "it has no piece for some byte");
  if (changes.anchor.empty()) return {};
  texts_.emplace_back(changes.anchor);
  types_.push_back(SpType::user_defined);
  scores_.push_back(0);
  return {};
}

void SpSegmenter::set_use(std::vector<bool> hidden, Use& use) const {
  use.hidden = std::move(hidden);
  use.hidden.resize(texts_.size());
  use.least = FLT_MAX;
  use.most = FLT_MIN;  // so that it is never below this
  std::vector<std::pair<std::string_view, std::int32_t>> user_defined;
  for (std::size_t id = 0; id < texts_.size(); ++id) {
    if (use.hidden[id]) continue;
    if (types_[id] == SpType::user_defined) user_defined.emplace_back(texts_[id], static_cast<std::int32_t>(id));
    if (types_[id] != SpType::normal) continue;
    use.least = std::min(use.least, scores_[id]);
    use.most = std::max(use.most, scores_[id]);
  }
  use.user_defined = PieceTrie(std::move(user_defined));
}

Result<void> SpSegmenter::open(const SpModel& model, const SpChanges& changes, const std::string& path) {
  algorithm_ = model.algorithm;
  whitespace_as_suffix_ = model.whitespace_as_suffix;
  byte_fallback_ = model.byte_fallback;
  bytes_.fill(-1);
  if (Result<void> added = add_pieces(model, changes, path); !added) return added;
  std::vector<std::pair<std::string_view, std::int32_t>> all;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    Ids& ids = is_of_text(types_[i]) ? pieces_ : reserved_;
    if (!ids.emplace(texts_[i], id).second)
      return refused(path, "piece " + std::to_string(i) + " has the text of another");
    if (is_of_text(types_[i])) all.emplace_back(texts_[i], id);
    longest_ = std::max(longest_, texts_[i].size());
  }
  set_use({}, uses_[0]);
  set_use(changes.hidden, uses_[1]);
  if (algorithm_ == SpAlgorithm::unigram) trie_ = PieceTrie(std::move(all));
  return {};
}

std::int32_t SpSegmenter::id_of(std::string_view text, const Use& use) const {
  if (text.size() > longest_) return unknown_;
  for (const Ids* ids : {&reserved_, &pieces_}) {
    const auto found = ids->find(text);
    if (found != ids->end() && !use.hidden[static_cast<std::size_t>(found->second)]) return found->second;
  }
  return unknown_;
}

void SpSegmenter::segment(std::string_view text, bool is_guarded, std::vector<SpSegment>& into) const {
  const Use& use = uses_[is_guarded ? 1 : 0];
  switch (algorithm_) {
    case SpAlgorithm::unigram: return segment_unigram(text, use, into);
    case SpAlgorithm::bpe: return segment_bpe(text, use, into);
    case SpAlgorithm::word: return segment_words(text, use, into);
    case SpAlgorithm::chars: return segment_characters(text, use, into);
  }
}

// ---- unigram

/// The best way to a place is kept as the last piece of it; of equal ways the first that is found counts, which is the
/// one whose last piece is longer. Sums are floats, as SentencePiece's are: which of two is larger their rounding may
/// decide.
void SpSegmenter::segment_unigram(std::string_view text, const Use& use, std::vector<SpSegment>& into) const {
  struct Way {
    float sum = 0;
    std::int32_t id = -1;
    std::uint32_t size = 0;  ///< of the last piece; 0: no way is known
  };
  std::vector<Way> ways(text.size() + 1);
  const auto take = [&](std::size_t end, std::uint32_t size, float sum, std::int32_t id) {
    Way& way = ways[end];
    if (way.size == 0 || sum > way.sum) way = {sum, id, size};
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const float sum = ways[begin].sum;
    const std::uint32_t first = size_by_first(text.substr(begin));
    bool is_known = false;
    PieceTrie::Node node = 0;
    for (std::size_t at = begin; at < text.size();) {
      node = trie_.step(node, static_cast<std::uint8_t>(text[at++]));
      if (node == PieceTrie::kNone) break;
      const std::int32_t id = trie_.value(node);
      if (id == PieceTrie::kNone || type(id) == SpType::unused || use.hidden[static_cast<std::size_t>(id)]) continue;
      const auto size = static_cast<std::uint32_t>(at - begin);
      // A user-defined piece has more than any way through it.
      const float bonus = static_cast<float>(size) * use.most - 0.1F;
      take(at, size, (type(id) == SpType::user_defined ? bonus : scores_[static_cast<std::size_t>(id)]) + sum, id);
      is_known = is_known || size == first;
    }
    if (!is_known) take(begin + first, first, use.least - kUnknownPenalty + sum, unknown_);
    begin += first;
  }
  const std::size_t old = into.size();
  for (std::size_t end = text.size(); end > 0; end -= ways[end].size) into.push_back({ways[end].size, ways[end].id});
  std::reverse(into.begin() + static_cast<std::ptrdiff_t>(old), into.end());
}

// ---- bpe

/// A text at work: a list of its parts, and the neighbours that may become one.
struct SpSegmenter::Merging {
  struct Part {
    std::string_view text;  ///< "": it is a part of another now
    std::int32_t before = -1, after = -1;
    bool is_fixed = false;  ///< a user-defined piece
  };
  struct Candidate {
    float score = 0;
    std::int32_t left = 0, right = 0;
    std::size_t size = 0;  ///< of both
    bool operator<(const Candidate& other) const {
      return score < other.score || (score == other.score && left > other.left);
    }
  };
  const Use& use;
  std::vector<Part> parts;
  std::priority_queue<Candidate> heap;
  /// What an unused piece is made of, by its text: the text of its first part.
  std::unordered_map<std::string_view, std::size_t> halves;
  Part& part(std::int32_t number) { return parts[static_cast<std::size_t>(number)]; }
};

void SpSegmenter::offer(Merging& work, std::int32_t left, std::int32_t right) const {
  if (left < 0 || right < 0) return;
  const Merging::Part& first = work.part(left);
  const Merging::Part& second = work.part(right);
  const std::string_view both(first.text.data(), first.text.size() + second.text.size());
  if (first.is_fixed || second.is_fixed || both.size() > longest_) return;
  const auto found = pieces_.find(both);
  if (found == pieces_.end() || work.use.hidden[static_cast<std::size_t>(found->second)]) return;
  work.heap.push({scores_[static_cast<std::size_t>(found->second)], left, right, both.size()});
  if (type(found->second) == SpType::unused) work.halves[both] = first.text.size();
}

void SpSegmenter::merge_all(Merging& work) const {
  while (!work.heap.empty()) {
    const Merging::Candidate best = work.heap.top();
    work.heap.pop();
    Merging::Part& left = work.part(best.left);
    Merging::Part& right = work.part(best.right);
    if (left.text.empty() || right.text.empty() || left.text.size() + right.text.size() != best.size) continue;
    left.text = {left.text.data(), best.size};
    left.after = right.after;
    if (right.after >= 0) work.part(right.after).before = best.left;
    right.text = {};
    offer(work, left.before, best.left);
    offer(work, best.left, left.after);
  }
}

/// A part; of an unused piece, what it was made of.
void SpSegmenter::append_split(const Merging& work, std::string_view text, std::vector<SpSegment>& into) const {
  std::vector<std::string_view> open = {text};
  while (!open.empty()) {
    const std::string_view part = open.back();
    open.pop_back();
    const std::int32_t id = id_of(part, work.use);
    const auto half = type(id) == SpType::unused ? work.halves.find(part) : work.halves.end();
    if (half == work.halves.end()) {
      into.push_back({static_cast<std::uint32_t>(part.size()), id});
    } else {
      open.push_back(part.substr(half->second));
      open.push_back(part.substr(0, half->second));
    }
  }
}

void SpSegmenter::segment_bpe(std::string_view text, const Use& use, std::vector<SpSegment>& into) const {
  Merging work{use, {}, {}, {}};
  while (!text.empty()) {
    const auto number = static_cast<std::int32_t>(work.parts.size());
    const std::size_t fixed = use.user_defined.longest(text);
    const std::size_t size = fixed != 0 ? fixed : size_by_first(text);
    work.parts.push_back({text.substr(0, size), number - 1, text.size() > size ? number + 1 : -1, fixed != 0});
    text.remove_prefix(size);
  }
  for (std::size_t i = 1; i < work.parts.size(); ++i)
    offer(work, static_cast<std::int32_t>(i - 1), static_cast<std::int32_t>(i));
  merge_all(work);
  for (const Merging::Part& part : work.parts) {
    if (!part.text.empty()) append_split(work, part.text, into);
  }
}

// ---- words and characters

void SpSegmenter::segment_words(std::string_view text, const Use& use, std::vector<SpSegment>& into) const {
  std::size_t begin = 0;
  const auto end_word = [&](std::size_t end) {
    if (end > begin)
      into.push_back({static_cast<std::uint32_t>(end - begin), id_of(text.substr(begin, end - begin), use)});
    begin = end;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t size = size_by_first(text.substr(at));
    const bool is_blank = text.substr(at, size) == kBlank;
    if (is_blank && !whitespace_as_suffix_) end_word(at);
    at += size;
    if (is_blank && whitespace_as_suffix_) end_word(at);
  }
  end_word(text.size());
}

void SpSegmenter::segment_characters(std::string_view text, const Use& use, std::vector<SpSegment>& into) const {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t fixed = use.user_defined.longest(text.substr(at));
    const auto size = fixed != 0 ? static_cast<std::uint32_t>(fixed) : size_by_first(text.substr(at));
    into.push_back({size, id_of(text.substr(at, size), use)});
    at += size;
  }
}

}  // namespace parlance
