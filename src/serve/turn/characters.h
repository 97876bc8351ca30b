// Text of tokens as it can be shown: whole characters, and nothing of a text that ends the reply.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace parlance::serve {

/// The size of a text without a character at its end that lacks bytes.
std::size_t whole_characters(std::string_view text);

/// Holds back a character that lacks bytes: a token may have half of one.
class Characters {
 public:
  /// The whole characters of what was held and these bytes. Valid until the next call.
  std::string_view add(std::string_view bytes);
  /// What is left at the end.
  std::string_view rest();
  bool is_whole() const { return held_.empty(); }

 private:
  std::string held_, given_;
};

/// Finds the first of several texts in pieces of a text, and drops it and what follows.
class StopTexts {
 public:
  /// The texts must outlive it.
  explicit StopTexts(std::span<const std::string> stops) : stops_(stops) {}
  /// What can be shown of the text so far and was not yet. Valid until the next call.
  std::string_view add(std::string_view text);
  /// What was held back, at the end.
  std::string_view rest();
  /// The text that was found.
  const std::optional<std::string>& found() const { return found_; }

 private:
  std::size_t held_behind(std::string_view text) const;

  std::span<const std::string> stops_;
  std::string held_, given_;
  std::optional<std::string> found_;
};

}  // namespace parlance::serve
