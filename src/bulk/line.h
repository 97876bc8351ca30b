// One line of a JSONL run: request in, result out, with memory that is kept from line to line.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "bulk/jsonl.h"

namespace parlance {

/// What one thread needs to render lines.
class LineRenderer {
 public:
  explicit LineRenderer(const BulkOptions& options);
  /// Appends the result of `line` (number `number`, from 1) to `out`, with a newline, and what it lost to `lost`. False for an
  /// error result.
  bool render(std::string_view line, std::uint64_t number, std::string& out, LossCounts& lost);

 private:
  Result<void> render_request(std::string_view line, Value& id);
  Result<void> render_own_source(std::string_view line, Value& id);
  Result<void> run(const Template& chat_template, const LossFinder* finder);
  Result<void> write();

  const BulkOptions& options_;
  Conversation conversation_;
  Conversation outer_;  ///< the line itself, where it brings its own template
  Workspace workspace_;
  CheckedRendering checked_;
  std::optional<LossFinder> finder_;             ///< of the template
  std::optional<LossFinder> finder_with_tools_;  ///< of the one for requests with tools
  std::string context_;
  std::string members_;  ///< of the result
};

}  // namespace parlance
