// Texts that end the reply only where nothing follows them (ReplyFormat::last): they are held until something does.
//
// They are looked for before any reader sees the bytes, since they mean the same in each place. Begin reading at hold_last.
#include <algorithm>
#include <utility>

#include "reply/parser.h"

namespace parlance {
namespace {

/// How many bytes at the end of `bytes` may be the beginning of one of the texts.
std::size_t size_of_beginning(const std::vector<std::string>& texts, std::string_view bytes) {
  std::size_t most = 0;
  for (const std::string& text : texts) {
    for (std::size_t size = std::min(text.size(), bytes.size()); size > most; --size) {
      if (bytes[bytes.size() - size] != text.front() || !bytes.ends_with(std::string_view(text).substr(0, size))) continue;
      most = size;
      break;
    }
  }
  return most;
}

}  // namespace

/// Keeps back what may be the end of the reply; the rest may be read. `joined` is room for what was kept before.
std::string_view ReplyParser::State::hold_last(std::string_view bytes, std::string& joined) {
  if (machine_->format.last.empty() || conversation_ || in_prompt_) return bytes;
  if (rare_ && !rare_->last.empty()) {
    joined = std::exchange(rare_->last, {});
    bytes = joined.append(bytes);
  }
  if (place_ == Place::done) return bytes;
  const std::size_t size = size_of_beginning(machine_->format.last, bytes);
  if (size == 0) return bytes;
  if (!rare_) rare_.make();
  rare_->last = bytes.substr(bytes.size() - size);
  return bytes.substr(0, bytes.size() - size);
}

/// Nothing follows what was kept back: it ends the reply, or it is read as all else is. Gives what ends the reply.
std::string ReplyParser::State::take_last() {
  if (!rare_ || rare_->last.empty()) return {};
  std::string held = std::exchange(rare_->last, {});
  const std::vector<std::string>& texts = machine_->format.last;
  const std::uint64_t place = here() + held_.size();
  const bool whole = std::find(texts.begin(), texts.end(), held) != texts.end() && (!tokens_ || is_fed_so(held, place));
  if (whole && place_ != Place::done) return held;
  run(held.data(), held.data() + held.size());
  return {};
}

}  // namespace parlance
