// Members of a line's object that its answer has too.
#pragma once
#include <string>
#include <string_view>

#include "parlance/bulk.h"
#include "parlance/json.h"

namespace parlance {

/// What BulkOptions::keep says.   Threads: one.
class Keeper {
 public:
  explicit Keeper(const BulkOptions& options) : options_(options) {}

  bool keeps() const { return options_.keep_all || !options_.keep.empty(); }
  /// Appends the members of `line` that are kept to `out`, each with ", " behind it, and counts them. Not those that
  /// the answer has itself: `id`, where it has one, and its `members`; nor `error` and `line`, which tell errors. Of a
  /// line that is no object there is nothing to keep.
  void append(std::string& out, std::string_view line, bool has_id, std::string_view members, BulkProgress& counts);

 private:
  void append_one(std::string& out, std::string_view name, Value value, BulkProgress& counts);

  const BulkOptions& options_;
  Document document_;
  std::string own_;  ///< the answer's own names, as JSON, each with a newline behind it
};

}  // namespace parlance
