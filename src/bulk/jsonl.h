// JSONL in, JSONL out: one request a line, one result a line, in order, on all cores, in bounded
// memory.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "bulk/request.h"
#include "bulk/result_json.h"

namespace parlance {

/// What lines lost, by the subject of Loss.
struct LossCounts {
  std::uint64_t lines = 0;  ///< that lost anything
  std::map<std::string_view, std::uint64_t> things;
  void add(std::span<const Loss> losses);
  void add(const LossCounts& other);
};

struct BulkProgress {
  std::uint64_t lines = 0;
  std::uint64_t failed = 0;  ///< results that are errors
  std::uint64_t bytes = 0;   ///< of input
  LossCounts lost;
};

/// What becomes of losses (parlance/losses.h).
enum class OnLoss : std::uint8_t {
  ignore,  ///< they are not looked for
  count,
  fail,  ///< a line that lost anything is an error result
};

/// A template, or why there is none: then every line gets that error.
using CompiledTemplate = std::optional<Result<Template>>;

struct BulkOptions {
  CompiledTemplate chat_template;  ///< none: each line is {"source", "context"} and brings its own
  CompiledTemplate with_tools;     ///< for requests with tools; none: the same
  CompileOptions compile;          ///< for lines that bring their own
  RequestOptions request;
  RenderOptions render;
  OnLoss on_loss = OnLoss::ignore;
  ResultParts parts;
  /// Writes the members of a result in place of `parts`; called by several threads at once. What it fails with is the
  /// line's error.
  std::function<Result<void>(const Conversation&, const Rendering&, std::string& members)> write{};
  /// Answers a line (number `number`, from 1) in place of all of the above: appends the result with a newline to `out`;
  /// false for an error result. Called by several threads at once.
  std::function<bool(std::string_view line, std::uint64_t number, std::string& out)> answer{};
  unsigned threads = 0;  ///< 0: as many as there are cores
  std::function<void(const BulkProgress&)>
      progress{};  ///< called by one thread, some times a second
};

/// A line longer than this is an error result.
inline constexpr std::size_t kMaxLine = std::size_t{256} << 20;

/// Renders every line of the file descriptor `in`; results go to `out`. Blank lines are skipped.
/// Fails with file when reading or writing fails; a line that fails is an error result.
Result<BulkProgress> render_jsonl(int in, int out, const BulkOptions& options);

}  // namespace parlance
