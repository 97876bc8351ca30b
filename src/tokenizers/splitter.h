// Splitter: a text cut into words by regular expressions, before a vocabulary merges bytes within each word.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/tokenizer.h"

namespace parlance {

/// Patterns, one after the other: each cuts the words that the ones before made, as if a word were all the text. Their
/// syntax is Oniguruma's for Java. Movable. Threads: any number may split() at once.
class Splitter {
 public:
  struct Options {
    bool drop_rest = false;  ///< what no pattern matches is dropped, as tiktoken does; else it is a word
  };
  /// Fails with tokenizer: a pattern that is none, or a build without cargo's library.
  static Result<Splitter> make(std::span<const std::string> patterns, const Options& options);
  Splitter(Splitter&&) noexcept;
  Splitter& operator=(Splitter&&) noexcept;
  ~Splitter();

  /// Appends the words of `text`, ascending, none of them empty. Fails with tokenizer (a pattern gives up),
  /// limit_memory.
  Result<void> split(std::string_view text, std::vector<ByteSpan>& words) const;
  /// Is every byte of a text in a word?
  bool keeps_text() const;

 private:
  struct State;
  explicit Splitter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parlance
