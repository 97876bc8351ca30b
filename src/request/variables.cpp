// From a request to what experiments are made with. Begin reading at variables_of.
#include "request/variables.h"

#include <algorithm>

#include "json/json.h"
#include "value/dict.h"

namespace parlance {
namespace {

/// What experiments say themselves.
constexpr std::string_view kMade[] = {"messages", "tools", "add_generation_prompt", "continue_final_message"};
/// The one variable of Go's templates that requests set besides: what they read is not known by name.
constexpr std::string_view kOfGo = "think";

bool is_read(const TemplateFacts& facts, std::string_view name) {
  return facts.syntax == Syntax::go ? name == kOfGo : facts.reads(name);
}

Variables read_members(const TemplateFacts& facts, Value members) {
  Variables found;
  if (members.kind != Kind::dict) return found;
  for (const DictEntry& entry : entries(members)) {
    const std::string_view name = leaf_text(entry.key);
    const bool made = std::find(std::begin(kMade), std::end(kMade), name) != std::end(kMade);
    if (!made && is_read(facts, name)) found.emplace_back(name, json_text(entry.value));
  }
  return found;
}

}  // namespace

// Sorted, since the list is a key: requests that differ in the order of their members share what was found.
Variables merged(Variables variables, const Variables& over) {
  for (const auto& one : over) {
    const auto same =
        std::find_if(variables.begin(), variables.end(), [&](const auto& known) { return known.first == one.first; });
    if (same == variables.end()) {
      variables.push_back(one);
    } else {
      same->second = one.second;
    }
  }
  std::sort(variables.begin(), variables.end());
  return variables;
}

Variables variables_of(const TemplateFacts& facts, Value request) {
  if (request.kind != Kind::dict) return {};
  const DictEntry* kwargs = find_key(*request.dict, "chat_template_kwargs");
  return merged(read_members(facts, request), kwargs == nullptr ? Variables() : read_members(facts, kwargs->value));
}

// NUL parts the members: it stands in no JSON text and in no variable's name that a template reads.
std::string key_of(const Variables& variables) {
  std::string key;
  for (const auto& [name, json] : variables) key.append(name).append("=").append(json).append(1, '\0');
  return key;
}

}  // namespace parlance
