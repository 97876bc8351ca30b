// What parsers of a format share. Begin reading at reply::SharedFormat::start.
#include "reply/read/compiled_format.h"

#include <algorithm>
#include <utility>

namespace parlance {
namespace {

constexpr std::size_t kMostVariants = 4;
constexpr std::size_t kMostStarts = 16;
constexpr std::size_t kLongestPrompt = 512;

/// Puts `made` in place of the oldest of at most `most`.
template <typename T>
void keep(std::vector<T>& kept, std::size_t most, std::size_t& next, T made) {
  if (kept.size() < most) return kept.push_back(std::move(made));
  kept[next] = std::move(made);
  next = (next + 1) % most;
}

}  // namespace

reply::SharedFormat::SharedFormat(const ReplyFormat& format)
    : source_(format), plain_(std::make_shared<const reply::Machine>(format)) {}

std::shared_ptr<const reply::Machine> reply::SharedFormat::find_variant(const std::vector<std::string>& ends) const {
  const std::lock_guard lock(mutex_);
  for (const Variant& one : variants_) {
    if (one.ends == ends) return one.machine;
  }
  return nullptr;
}

std::shared_ptr<const reply::Machine> reply::SharedFormat::machine_of(const std::vector<std::string>& ends) const {
  if (!reply::Machine::is_changed_by(source_, ends)) return plain_;
  if (auto known = find_variant(ends)) return known;
  auto made = std::make_shared<const reply::Machine>(source_, ends);  // two threads may make the same: either will do
  const std::lock_guard lock(mutex_);
  keep(variants_, kMostVariants, next_variant_, {ends, made});
  return made;
}

template <typename IsWanted>
std::shared_ptr<const reply::SharedFormat::Start> reply::SharedFormat::find_start(IsWanted is_wanted) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(starts_.begin(), starts_.end(), is_wanted);
  return found == starts_.end() ? nullptr : *found;
}

reply::ParserState reply::SharedFormat::start(const ReplyOptions& options) const {
  const std::shared_ptr<const reply::Machine> machine = machine_of(options.ends);
  const std::string_view prompt = opened_before_reply(options.prompt, source_);
  const ReplyFormat& format = machine->format;
  const bool inside = options.begin_in_reasoning && (format.reasoning_close.exists() || format.content_open.exists());
  const bool calls = !options.no_calls_in_reasoning && machine->has_calls_in_reasoning(prompt, inside);
  const auto is_wanted = [&](const std::shared_ptr<const Start>& one) {
    return one->prompt == prompt && one->in_reasoning == inside && one->state.is_of(*machine, options.limits, calls);
  };
  if (const std::shared_ptr<const Start> known = find_start(is_wanted)) return {known->state, options.tools};
  reply::ParserState state(
      std::make_shared<const reply::Request>(reply::Request{machine, options.tools, options.limits}), false);
  state.begin(prompt, inside, calls);
  if (prompt.size() > kLongestPrompt || state.called_in_prompt()) return state;
  auto start = std::make_shared<const Start>(Start{std::string(prompt), inside, {state, ReplyTools()}});
  const std::lock_guard lock(mutex_);
  keep(starts_, kMostStarts, next_start_, std::shared_ptr<const Start>(std::move(start)));
  return state;
}

reply::ParserState reply::SharedFormat::start_of_conversation(const ReplyLimits& limits) const {
  return {std::make_shared<const reply::Request>(reply::Request{plain_, {}, limits}), true};
}

std::shared_ptr<const reply::SharedFormat> reply::SharedFormat::without_calls() const {
  if (source_.calls.empty()) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (without_calls_) return without_calls_;
  }
  ReplyFormat format = source_;
  format.calls.clear();
  if (!format.validate()) return nullptr;
  auto made = std::make_shared<const SharedFormat>(format);  // two threads may make the same: the first one's is kept
  const std::lock_guard lock(mutex_);
  if (!without_calls_) without_calls_ = std::move(made);
  return without_calls_;
}

// ---- the value

namespace {

const std::shared_ptr<const reply::SharedFormat>& without_markers() {
  static const auto made = std::make_shared<const reply::SharedFormat>(ReplyFormat());
  return made;
}

}  // namespace

CompiledReplyFormat::CompiledReplyFormat() : data_(without_markers()) {}

Result<CompiledReplyFormat> CompiledReplyFormat::make(const ReplyFormat& format) {
  if (Result<void> valid = format.validate(); !valid) return valid.error();
  return CompiledReplyFormat(std::make_shared<const reply::SharedFormat>(format));
}

const ReplyFormat& CompiledReplyFormat::source() const& { return inside().source(); }

CompiledReplyFormat CompiledReplyFormat::without_calls() const {
  std::shared_ptr<const reply::SharedFormat> made = inside().without_calls();
  return made ? CompiledReplyFormat(std::move(made)) : *this;
}

CompiledReplyFormat CompiledReplyFormat::with_control(std::span<const std::string> tokens,
                                                      std::span<const std::string> ends) const {
  return CompiledReplyFormat(std::make_shared<const reply::SharedFormat>(source().with_control(tokens, ends)));
}

const reply::SharedFormat& CompiledReplyFormat::inside() const { return data_ ? *data_ : *without_markers(); }

}  // namespace parlance
