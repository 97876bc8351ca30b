// How many tokens the rows of a data set have: told at the end of parlance tokens --jsonl, and written by --stats.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/reply_kinds.h"
#include "parlance/tokens.h"

namespace parlance::cli {

class Options;

/// What is done with a row of more tokens than it may have.
enum class TooLong : std::uint8_t { fail, drop, truncate };

/// --max-tokens, --too-long, --stats.
struct LengthWish {
  std::uint64_t most = 0;  ///< 0: any number
  std::string policy;      ///< the name of a TooLong
  std::string stats;       ///< a file

  TooLong too_long() const;
  /// The option that was given; "": none.
  std::string given() const;
};
/// The names of the policies, in the order of TooLong.
std::span<const std::string_view> too_long_names();
void declare_lengths(Options& app, LengthWish& wish);

/// Counts rows and their tokens.   Threads: any may add.
class TokenStats {
 public:
  explicit TokenStats(const LengthWish& wish) : wish_(wish) {}

  /// Can the file of --stats be written, and is it no other file of the run? It is made at the end, so that a run that
  /// fails leaves an older one. `input`: what is read; `is_rest`: is it the rest of another run's? Fails with file,
  /// usage.
  Result<void> check_file(const std::string& input, bool is_rest) const;
  /// Are the kinds of tokens counted, which takes reading each turn?
  bool wants_kinds() const { return !wish_.stats.empty(); }

  /// A row, cut where the policy says so; the number of tokens that were cut off. Fails with too_many_tokens where the
  /// policy is to fail; `drops` becomes true where it is to drop. `kinds`: of each token, if they are known.
  Result<std::size_t> add(PromptTokens& tokens, const std::optional<std::vector<ReplyKind>>& kinds, bool& drops);

  /// Says it on standard error, unless `quiet`, and writes the file; the exit code. `skipped`: lines of the input that
  /// are not counted; `stopped`: nor are those behind.
  int report(bool quiet, std::uint64_t skipped, bool stopped) const;

 private:
  struct Spread {
    std::uint64_t total = 0, least = 0, median = 0, p95 = 0, most = 0;
  };
  Spread spread() const;
  void say() const;
  std::string json(std::uint64_t skipped, bool stopped) const;

  const LengthWish& wish_;
  std::mutex mutex_;
  std::map<std::size_t, std::uint64_t> rows_by_tokens_;
  std::uint64_t rows_ = 0;
  std::uint64_t trained_ = 0;
  std::uint64_t untrained_rows_ = 0;
  std::uint64_t too_long_ = 0;
  std::uint64_t rows_without_kinds_ = 0;
  std::array<std::uint64_t, kReplyKinds> kinds_{};
};

}  // namespace parlance::cli
