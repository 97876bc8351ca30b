// Begin reading at ToolList::add.
#include "agent/mcp/tool_list.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "parlance/agent.h"
#include "parlance/json.h"

namespace parlance::agent {

namespace {

constexpr std::size_t kMostTools = 256;            // that a server tells: also those that are left out count
constexpr std::size_t kMostSchema = 64 << 10;      // bytes
constexpr int kMostSchemaLevels = 64;              // templates write a schema by recursion
constexpr std::size_t kMostDescription = 8 << 10;  // bytes
constexpr std::size_t kMostShown = 64;             // bytes of a name in a sentence

bool nests_within(Value value, int levels) {
  if (levels == 0) return value.items().empty() && value.members().empty();
  const auto fits = [levels](const Value& inner) { return nests_within(inner, levels - 1); };
  return std::all_of(value.items().begin(), value.items().end(), fits) &&
         std::all_of(value.members().begin(), value.members().end(),
                     [&fits](const DictEntry& member) { return fits(member.value); });
}

bool is_fit(const McpTool& tool, Value schema) {
  return !tool.name.empty() && tool.parameters.size() <= kMostSchema && nests_within(schema, kMostSchemaLevels) &&
         is_object_schema(tool.parameters);
}

}  // namespace

bool ToolList::add(Value tool) {
  if (seen_ == kMostTools) {
    has_more_ = true;
    return false;
  }
  ++seen_;
  McpTool made{.name = whole_text(tool["name"]), .description = whole_text(tool["description"])};
  if (made.description.empty()) made.description = whole_text(tool["title"]);
  made.description.resize(utf8::whole_prefix(made.description, kMostDescription).size());
  const Value schema = tool["inputSchema"];
  made.parameters = schema.is(Kind::dict) ? json_text(schema) : std::string(kNoParameters);
  const bool is_known =
      std::any_of(tools_.begin(), tools_.end(), [&made](const McpTool& one) { return one.name == made.name; });
  if (is_known) return true;
  if (is_fit(made, schema)) {
    tools_.push_back(std::move(made));
    return true;
  }
  ++unfit_;
  if (first_unfit_.empty()) first_unfit_ = utf8::whole_prefix(made.name, kMostShown);
  return true;
}

std::vector<std::string> ToolList::warnings(const std::string& server) const {
  std::vector<std::string> warnings;
  if (unfit_ > 0)
    warnings.push_back(std::to_string(unfit_) + (unfit_ == 1 ? " tool" : " tools") + " of the MCP server " + server +
                       " left out, without a name or with a schema of no object, or of more than " +
                       std::to_string(kMostSchema >> 10) + " KiB or " + std::to_string(kMostSchemaLevels) + " levels" +
                       (first_unfit_.empty() ? "" : ", such as " + first_unfit_));
  if (has_more_)
    warnings.push_back("the MCP server " + server + " tells more than " + std::to_string(kMostTools) +
                       " tools: the rest is left out");
  return warnings;
}

}  // namespace parlance::agent
