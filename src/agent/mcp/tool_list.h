// ToolList: the tools that an MCP server tells, page by page. However many they are, it takes so many and says so in a
// sentence or two.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "parlance/value.h"

namespace parlance::agent {

struct McpTool {
  std::string name{};
  std::string description{};
  std::string parameters{};  ///< JSON Schema of an object
};

class ToolList {
 public:
  /// False: it is full, and the server need not tell more.
  bool add(Value tool);

  std::vector<McpTool> take() { return std::move(tools_); }
  /// What was left out, as sentences.
  std::vector<std::string> warnings(const std::string& server) const;

 private:
  std::vector<McpTool> tools_;
  std::size_t seen_ = 0;
  std::size_t unfit_ = 0;    ///< without a name, or with a schema that is too large
  std::string first_unfit_;  ///< the first name of them that is one
  bool has_more_ = false;
};

}  // namespace parlance::agent
