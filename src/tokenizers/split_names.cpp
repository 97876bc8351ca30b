// data/splits.def as tables.
#include "tokenizers/split_names.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/nearest.h"

namespace parlance {
namespace {

// What each pass over the file does not ask for is empty.
#define WORDS(id, ...) constexpr std::string_view kWords_##id[] = {__VA_ARGS__};
#define GGUF_SPLIT(name, id, flags)
#define GGUF_MODEL(name, way, split)
#define TIKTOKEN_SPLIT(name, id)
#define TIKTOKEN_MARK(name, text, id)
#define TEKKEN_MARK(text)
#define GGUF_MARK(text, use)
#define GGUF_STRIPS(part)
#define GGUF_STRIPS_EXCEPT(text)
#include "splits.def"

struct SplitRow {
  std::string_view name;
  std::span<const std::string_view> patterns;
  unsigned flags = 0;
};

constexpr unsigned kWhole = 1, kBos = 2, kBosAlways = 4, kRaw = 8, kNewlines = 16, kNoMerges = 32;

#undef WORDS
#undef GGUF_SPLIT
#define WORDS(id, ...)
#define GGUF_SPLIT(name, id, flags) {name, kWords_##id, flags},
constexpr SplitRow kGgufSplits[] = {
#include "splits.def"
};

#undef GGUF_SPLIT
#undef GGUF_MODEL
#define GGUF_SPLIT(name, id, flags)
#define GGUF_MODEL(name, way, split) {name, GgufWay::way, split},
constexpr GgufModel kModels[] = {
#include "splits.def"
};

#undef GGUF_MODEL
#undef TIKTOKEN_SPLIT
#define GGUF_MODEL(name, way, split)
#define TIKTOKEN_SPLIT(name, id) {name, kWords_##id, 0},
constexpr SplitRow kTiktoken[] = {
#include "splits.def"
};

#undef TIKTOKEN_SPLIT
#define TIKTOKEN_SPLIT(name, id) name,
constexpr std::string_view kTiktokenNames[] = {
#include "splits.def"
};

#undef TIKTOKEN_SPLIT
#undef TIKTOKEN_MARK
#define TIKTOKEN_SPLIT(name, id)
#define TIKTOKEN_MARK(name, text, id) {name, text, id},
constexpr TiktokenMark kTiktokenMarks[] = {
#include "splits.def"
};

#undef TIKTOKEN_MARK
#undef TEKKEN_MARK
#define TIKTOKEN_MARK(name, text, id)
#define TEKKEN_MARK(text) text,
constexpr std::string_view kTekkenMarks[] = {
#include "splits.def"
};

#undef TEKKEN_MARK
#undef GGUF_MARK
#define TEKKEN_MARK(text)
#define GGUF_MARK(text, use) {text, use},
constexpr GgufMark kMarks[] = {
#include "splits.def"
};

#undef GGUF_MARK
#undef GGUF_STRIPS
#define GGUF_MARK(text, use)
#define GGUF_STRIPS(part) part,
constexpr std::string_view kStrips[] = {
#include "splits.def"
};

#undef GGUF_STRIPS
#undef GGUF_STRIPS_EXCEPT
#define GGUF_STRIPS(part)
#define GGUF_STRIPS_EXCEPT(text) text,
constexpr std::string_view kStripsExcept[] = {
#include "splits.def"
};

const SplitRow* row_of(std::span<const SplitRow> rows, std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const SplitRow& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

std::vector<std::string> texts_of(const SplitRow& row) { return {row.patterns.begin(), row.patterns.end()}; }

}  // namespace

std::optional<GgufSplit> gguf_split(std::string_view name) {
  const SplitRow* row = row_of(kGgufSplits, name);
  if (row == nullptr) return std::nullopt;
  const auto has = [&](unsigned flag) { return (row->flags & flag) != 0; };
  return GgufSplit{.patterns = texts_of(*row),
                   .whole_words = has(kWhole),
                   .begins_with_bos = has(kBos) || has(kBosAlways),
                   .always_bos = has(kBosAlways),
                   .raw = has(kRaw),
                   .whole_newlines = has(kNewlines),
                   .may_lack_merges = has(kNoMerges)};
}

std::span<const GgufModel> gguf_models() { return kModels; }

std::vector<std::string_view> gguf_split_names() {
  std::vector<std::string_view> names;
  for (const SplitRow& row : kGgufSplits) names.push_back(row.name);
  return names;
}

std::string gguf_split_hint(std::string_view name) {
  NearestName nearest(name);
  for (const SplitRow& row : kGgufSplits) nearest.offer(row.name);
  return nearest.hint();
}

bool is_tiktoken_name(std::string_view name) { return row_of(kTiktoken, name) != nullptr; }

std::vector<std::string> split_patterns(std::string_view name) {
  if (const SplitRow* row = row_of(kTiktoken, name)) return texts_of(*row);
  const SplitRow* row = name.empty() ? nullptr : row_of(kGgufSplits, name);
  return row == nullptr ? std::vector<std::string>() : texts_of(*row);
}

std::span<const TiktokenMark> tiktoken_marks() { return kTiktokenMarks; }

std::span<const std::string_view> tekken_marks() { return kTekkenMarks; }

std::span<const std::string_view> tiktoken_names() { return kTiktokenNames; }

std::span<const GgufMark> gguf_marks() { return kMarks; }

bool strips_after_control(std::string_view model_name) {
  std::string lower(model_name);
  for (char& c : lower) c = ascii::lower(c);
  return std::any_of(std::begin(kStrips), std::end(kStrips),
                     [&](std::string_view part) { return lower.find(part) != lower.npos; });
}

bool is_kept_from_stripping(std::string_view text) {
  return std::find(std::begin(kStripsExcept), std::end(kStripsExcept), text) != std::end(kStripsExcept);
}

}  // namespace parlance
