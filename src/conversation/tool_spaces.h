// Tools of OpenAI's Responses that stand in namespaces, and the names by which a model knows them: a chat has no
// namespaces.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "parlance/value.h"

namespace parlance {

struct ToolOfSpace {
  std::string space;
  std::string name;
  std::string shown;  ///< what the model calls it by: the name, or SPACE__NAME where another tool has that name too
};

/// The tools of a request that are in namespaces, in its order.
std::vector<ToolOfSpace> tools_of_spaces(Value tools);
/// What a model calls a tool of a namespace by, also one that the request has not any more.
std::string shown_name(const std::vector<ToolOfSpace>& tools, std::string_view space, std::string_view name);

}  // namespace parlance
