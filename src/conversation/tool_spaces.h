// Tools of OpenAI's Responses that stand in namespaces, and the names by which a model knows them: a chat has no
// namespaces.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/value.h"

namespace parlance {

struct ToolOfSpace {
  std::string space;
  std::string name;
  std::string shown;  ///< what the model calls it by: the name, or SPACE__NAME where another tool has that name too
};

/// The lists of tools of a request: its own, and those that items of its input bring: what a search for tools has
/// found, and what a developer adds.
std::vector<Value> tool_lists_of(Value request);

/// The tools of a request that are in namespaces.
class ToolSpaces {
 public:
  /// `lists`: those of the request.
  explicit ToolSpaces(const std::vector<Value>& lists);
  ToolSpaces(const ToolSpaces&) = delete;

  /// In the request's order.
  const std::vector<ToolOfSpace>& all() const& { return all_; }
  /// What the model calls the tools of a namespace by, each once.
  std::vector<std::string> shown_in(std::string_view space) const;
  /// What a model calls a tool of a namespace by, also one that the request has not any more.
  std::string shown_name(std::string_view space, std::string_view name) const;

 private:
  using SpacesOf = std::map<std::string, std::set<std::string>, std::less<>>;

  void add_space(Value given, SpacesOf& spaces_of);
  void name_shared(const SpacesOf& spaces_of);

  std::vector<ToolOfSpace> all_;
  std::map<std::pair<std::string_view, std::string_view>, const ToolOfSpace*> known_;  ///< by namespace and name
  std::set<std::string_view> names_;
};

}  // namespace parlance
