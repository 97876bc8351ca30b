// GrammarCache: a short list, the grammar asked for last in front. Begin reading at State::find.
//
// The list is short, so it is searched from the front: a fingerprint, which looks at little, tells nearly all others
// apart, and the comparison of format and options in full decides. Making and printing is done without the lock.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/fork_lock.h"
#include "grammar/data.h"
#include "parlance/grammar.h"
#include "value/dict.h"

namespace parlance {
namespace {

constexpr std::size_t kEnd = 256;  ///< bytes at each end of a text that a fingerprint reads

/// Tells most requests apart without reading the whole of their tools, which may be long: by their sizes, and by the
/// ends of the texts.
std::uint64_t fingerprint(const ReplyFormat& format, const GrammarOptions& options) {
  std::uint64_t mixed = 0;
  const auto mix = [&mixed](std::uint64_t more) { mixed = (mixed ^ more) * 0x9E3779B97F4A7C15u + (mixed >> 29); };
  const auto mix_text = [&mix](std::string_view text) {
    mix(text.size());
    mix(hash_text(text.substr(0, kEnd)));
    mix(hash_text(text.substr(text.size() - std::min(text.size(), kEnd))));
  };
  mix_text(options.tools);
  mix_text(options.response.schema);
  mix_text(options.response.pattern);
  mix_text(options.name);
  mix_text(options.prompt ? std::string_view(*options.prompt) : std::string_view());
  mix_text(format.prompt);
  mix(static_cast<std::uint64_t>(options.choice) | std::uint64_t{options.max_calls} << 8);
  return mixed;
}

/// About what a grammar takes, by measurement with 1, 10 and 100 tools: within a third of its live bytes, mostly more.
std::size_t bytes_of(const GrammarData& data) {
  constexpr std::size_t kNode = 512;    // with its key in the table of known nodes, its names and its lists
  constexpr std::size_t kPerByte = 16;  // of the schemas: the text itself twice, and its values
  return sizeof(GrammarData) + data.ir.size() * kNode +
         (data.options.tools.size() + data.options.response.schema.size()) * kPerByte;
}

/// The format is kept whole and not by address: the caller's may be gone, or be changed in place.
struct Entry {
  std::uint64_t fingerprint;
  ReplyFormat format;
  Grammar grammar;
  std::size_t bytes;
  std::array<std::shared_ptr<const std::string>, kGrammarSyntaxes> texts{};

  bool is_of(const ReplyFormat& other, const GrammarOptions& options) const {
    return inside_of(grammar).options == options && format == other;
  }
};

}  // namespace

struct GrammarCache::State {
  State(std::size_t grammars, std::size_t bytes) : most_grammars(grammars), most_bytes(bytes) {}

  /// The entry, put in front; null if there is none. To be called with the lock held, as all below.
  Entry* find(std::uint64_t print, const ReplyFormat& format, const GrammarOptions& options) {
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const std::unique_ptr<Entry>& entry) {
      return entry->fingerprint == print && entry->is_of(format, options);
    });
    if (found == entries.end()) return nullptr;
    std::rotate(entries.begin(), found, found + 1);
    return entries.front().get();
  }
  void add(std::unique_ptr<Entry> entry) {
    if (entry->bytes > most_bytes || most_grammars == 0) return;
    bytes += entry->bytes;
    entries.insert(entries.begin(), std::move(entry));
    keep_to_limits();
  }
  void keep_to_limits() {
    while (entries.size() > most_grammars || (bytes > most_bytes && !entries.empty())) {
      bytes -= entries.back()->bytes;
      entries.pop_back();
    }
  }

  const std::size_t most_grammars;
  const std::size_t most_bytes;
  BriefMutex mutex;
  std::vector<std::unique_ptr<Entry>> entries;  ///< the one asked for last in front
  std::size_t bytes = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
};

GrammarCache::GrammarCache(std::size_t most_grammars, std::size_t most_bytes)
    : state_(std::make_unique<State>(most_grammars, most_bytes)) {}
GrammarCache::GrammarCache(GrammarCache&&) noexcept = default;
GrammarCache& GrammarCache::operator=(GrammarCache&&) noexcept = default;
GrammarCache::~GrammarCache() = default;

/// Two threads may make the same grammar at once; the second result is dropped. To let one wait for the other would
/// hold up requests behind a large schema.
Result<Grammar> GrammarCache::get(const ReplyFormat& format, const GrammarOptions& options) {
  if (state_ == nullptr) return make_grammar(format, options);  // it was moved from
  State& state = *state_;
  const std::uint64_t print = fingerprint(format, options);
  {
    const std::lock_guard lock(state.mutex);
    if (const Entry* known = state.find(print, format, options)) {
      ++state.hits;
      return known->grammar;
    }
    ++state.misses;
  }
  Result<Grammar> made = make_grammar(format, options);
  if (!made) return made;
  auto entry = std::make_unique<Entry>(Entry{print, format, *made, bytes_of(inside_of(*made))});
  const std::lock_guard lock(state.mutex);
  if (const Entry* known = state.find(print, format, options)) return known->grammar;  // another thread was faster
  state.add(std::move(entry));
  return made;
}

Result<std::shared_ptr<const std::string>> GrammarCache::text(const ReplyFormat& format, const GrammarOptions& options,
                                                              GrammarSyntax syntax) {
  Result<PrintedGrammar> both = printed(format, options, syntax);
  if (!both) return both.error();
  return std::move(both->text);
}

Result<PrintedGrammar> GrammarCache::printed(const ReplyFormat& format, const GrammarOptions& options,
                                             GrammarSyntax syntax) {
  const auto number = static_cast<std::size_t>(syntax);
  const std::uint64_t print = fingerprint(format, options);
  if (state_ != nullptr) {
    const std::lock_guard lock(state_->mutex);
    const Entry* known = state_->find(print, format, options);
    if (known != nullptr && known->texts[number] != nullptr) {
      ++state_->hits;
      return PrintedGrammar{known->grammar, known->texts[number]};
    }
  }
  const Result<Grammar> grammar = get(format, options);
  if (!grammar) return grammar.error();
  auto text = std::make_shared<const std::string>(grammar->to_text(syntax));
  if (state_ == nullptr) return PrintedGrammar{*grammar, std::move(text)};
  const std::lock_guard lock(state_->mutex);
  Entry* const known = state_->find(print, format, options);
  if (known == nullptr) return PrintedGrammar{*grammar, std::move(text)};
  if (known->texts[number] != nullptr) return PrintedGrammar{*grammar, known->texts[number]};
  known->texts[number] = text;
  known->bytes += text->size();
  state_->bytes += text->size();
  state_->keep_to_limits();
  return PrintedGrammar{*grammar, std::move(text)};
}

GrammarCache::Use GrammarCache::use() const {
  if (state_ == nullptr) return {};
  const std::lock_guard lock(state_->mutex);
  return {state_->hits, state_->misses, state_->entries.size(), state_->bytes};
}

void GrammarCache::clear() {
  if (state_ == nullptr) return;
  const std::lock_guard lock(state_->mutex);
  state_->entries.clear();
  state_->bytes = 0;
}

}  // namespace parlance
