// GrownPrompt: pieces side by side with those of the last time. Begin reading at compare().
#include "tokens/grown_prompt.h"

#include <algorithm>
#include <cstring>

#include "tokens/difference.h"

namespace parlance {

void GrownPrompt::accept_whole(std::string_view text) {
  known_ = text;
  pieces_.clear();
  next_.forget();
}

Result<void> GrownPrompt::render(const Template& chat_template, const Conversation& conversation,
                                 const RenderOptions& options, bool same, std::size_t from) {
  goes_on_ = false;
  same_ = same;
  chat_template_ = &chat_template;
  conversation_ = &conversation;
  options_ = &options;
  const KnownPrompt known = same ? KnownPrompt{known_, std::min(from, known_.size())} : KnownPrompt{};
  if (Result<void> done = next_.render(chat_template, conversation, options, known); !done) return done;
  compare(same);
  return {};
}

Result<PromptEnd> GrownPrompt::end_from(std::size_t byte) {
  if (!next_.reaches(byte)) {
    if (Result<void> done = next_.render(*chat_template_, *conversation_, *options_); !done) return done.error();
    compare(same_);
  }
  return next_.end_from(byte);
}

std::optional<PromptEnd> GrownPrompt::part_from(std::size_t byte) {
  if (!next_.reaches(byte)) return std::nullopt;
  const Result<PromptEnd> end = next_.end_from(byte);
  return end ? std::optional(*end) : std::nullopt;
}

/// Pieces that are the same are passed at once; from the first other one on, which mostly is near the end, by bytes. A
/// piece of the known text stands for itself.
void GrownPrompt::compare(bool same) {
  const std::span<const Piece> next = next_.pieces();
  shared_ = shared_bytes_ = 0;
  const std::size_t both = same ? std::min(next.size(), pieces_.size()) : 0;
  for (; shared_ < both; ++shared_) {
    const Piece& now = next[shared_];
    const KnownPiece& then = pieces_[shared_];
    if (now.size != then.size) break;
    const bool equal = now.data == then.data && then.stays;
    if (!equal && std::memcmp(now.data, known_.data() + shared_bytes_, now.size) != 0) break;
    shared_bytes_ += now.size;
  }
  std::size_t at = shared_bytes_;
  bool same_so_far = true;
  for (std::size_t i = shared_; i < next.size() && at < known_.size() && same_so_far; ++i) {
    const std::size_t size = std::min<std::size_t>(next[i].size, known_.size() - at);
    const char* const known = known_.data() + at;
    same_so_far = next[i].data == known || std::memcmp(next[i].data, known, size) == 0;
    at += same_so_far ? size : common_text({next[i].data, size}, {known, size});
  }
  common_ = at;
  goes_on_ = at == known_.size();
}

void GrownPrompt::accept() {
  const std::span<const Piece> next = next_.pieces();
  std::size_t at = shared_bytes_;
  pieces_.resize(shared_);
  known_.resize(std::max(common_, shared_bytes_));
  for (const Piece& piece : next.subspan(shared_)) {
    const std::size_t end = at + piece.size;
    if (end > known_.size()) known_.append(piece.data + (known_.size() - at), end - known_.size());
    pieces_.push_back({piece.data, piece.size, next_.stays(piece)});
    at = end;
  }
  next_.accept();
}

}  // namespace parlance
