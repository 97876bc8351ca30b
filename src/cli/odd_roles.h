// Roles that no chat has by that name, such as human and gpt: a template writes them as they are, and finds no
// assistant.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "cli/options/prompt_options.h"

namespace parlance::cli {

/// Of the rows of a data set. Roles that one of the templates names are none of these.   Threads: any may add.
class OddRoles {
 public:
  explicit OddRoles(const ModelSource& model) : model_(model) {}
  void add(const Conversation& conversation);
  /// The same of a row whose turns were looked at, of which it has so many.
  void add(const Conversation& conversation, std::size_t turns);
  /// Says it on standard error, if there were any, and how many rows have no turn. `lines`: of how many.
  void report(std::uint64_t lines) const;

 private:
  bool is_named(std::string_view role) const;

  const ModelSource& model_;
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> rows_;  ///< by role
  std::uint64_t without_turns_ = 0;
};

}  // namespace parlance::cli
