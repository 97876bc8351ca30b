// A response_template as its members, checked as transformers checks it. Begin reading at fields_of.
#pragma once
#include <optional>
#include <string>
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
};

struct TemplateFields {
  Border anchor;
  std::vector<TemplateField> fields;
};

/// Fails with value (path of the member).
Result<TemplateFields> fields_of(Value root);

}  // namespace parlance::response
