// A response_template as its members, checked as transformers checks it. Begin reading at fields_of.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"
#include "parlance/value.h"

namespace parlance::response {

/// What opens or closes a region: texts, or a pattern, or nothing.
struct Border {
  std::vector<std::string> texts{};
  std::optional<std::string> pattern{};
  bool exists() const { return !texts.empty() || pattern.has_value(); }
};

struct TemplateField {
  std::string name;
  std::string path;  ///< "fields.content"
  Border open;
  Border close;
  std::string content = "text";
  Value arguments{};  ///< a dict, or none
  Value transform{};
  bool each = false;
  std::optional<std::string> join{};  ///< between regions of a field that has several

  /// Whether the region is the model's reasoning.
  bool is_reasoning() const;
};

struct TemplateFields {
  Border anchor;
  std::vector<TemplateField> fields;
};

/// The path in a text that is "{path}" and nothing else; "" in any other.
std::string_view path_in_braces(std::string_view text);

/// Fails with value (path of the member).
Result<TemplateFields> fields_of(Value root);

}  // namespace parlance::response
