// PromptSize: how many tokens a prompt will have, by those that there were.
#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>

namespace parlance {

/// A prompt is taken for a fixed number of tokens (the tools, the template's own words) and some for each byte of its
/// messages. Both come from the first prompt and the last one: between them the same tokens were fixed.   Threads: one.
class PromptSize {
 public:
  /// A prompt of messages of so many bytes had so many tokens.
  void measure(std::size_t tokens, std::size_t bytes) {
    last_ = {static_cast<double>(tokens), static_cast<double>(std::max<std::size_t>(bytes, 1))};
    if (!first_) first_ = last_;
    const double more_bytes = last_.bytes - first_->bytes, more_tokens = last_.tokens - first_->tokens;
    const bool tells = std::max(more_bytes, -more_bytes) >= kEnough && more_bytes * more_tokens > 0;
    // Blanks and lines of dashes take next to nothing, and what comes later may be anything else.
    if (tells) each_ = std::max(kLeast, more_tokens / more_bytes);
    each_ = std::min(each_, last_.tokens / last_.bytes);
    fixed_ = last_.tokens - each_ * last_.bytes;
  }
  /// What is fixed is another from here on: other tools are offered.
  void forget() { *this = {}; }

  bool is_known() const { return first_.has_value(); }
  /// Of the last prompt that was measured.
  std::size_t last() const { return static_cast<std::size_t>(last_.tokens); }
  double tokens_of(std::size_t bytes) const { return fixed_ + each_ * static_cast<double>(bytes); }
  double bytes_per_token() const { return 1 / each_; }
  /// What a context of so many tokens has room for besides what is fixed: a quarter of it at least, in which to try.
  std::size_t room_in(std::size_t context) const {
    return std::max(context / 4, context - std::min(context, static_cast<std::size_t>(fixed_)));
  }

 private:
  static constexpr double kEnough = 1000;    ///< bytes between two prompts that tell what is fixed
  static constexpr double kLeast = 1.0 / 5;  ///< tokens of a byte of ordinary text and code
  static constexpr double kUsual = 1.0 / 3;  ///< tokens of a byte, where nothing was measured

  struct Prompt {
    double tokens = 0, bytes = 1;
  };
  std::optional<Prompt> first_;
  Prompt last_;
  double each_ = kUsual, fixed_ = 0;
};

}  // namespace parlance
