// $ref: JSON pointers, anchors and ids within the document. Begin reading at Schema::resolve.
#include <algorithm>
#include <cstdlib>

#include "grammar/schema.h"

namespace parlance::grammar {
namespace {

constexpr std::size_t kMostNames = 10000;

int digit_of(char c) { return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1; }

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && digit_of(text[i + 1]) >= 0 && digit_of(text[i + 2]) >= 0;
    out += escape ? static_cast<char>(digit_of(text[i + 1]) * 16 + digit_of(text[i + 2])) : text[i];
    if (escape) i += 2;
  }
  return out;
}

/// ~1 is '/', ~0 is '~'.
std::string pointer_step(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '~' && i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1');
    out += escape ? (text[++i] == '0' ? '~' : '/') : text[i];
  }
  return out;
}

}  // namespace

Value Schema::follow(Value at, std::string_view pointer) {
  const std::string decoded = percent_decoded(pointer);
  std::string_view rest = decoded;
  while (!rest.empty() && !at.is_undefined()) {
    rest.remove_prefix(1);
    const std::size_t size = std::min(rest.find('/'), rest.size());
    const std::string step = pointer_step(rest.substr(0, size));
    rest.remove_prefix(size);
    if (at.is(Kind::dict)) {
      at = get(at, step);
    } else if (at.is_sequence()) {
      char* end = nullptr;
      const unsigned long i = std::strtoul(step.c_str(), &end, 10);
      at = !step.empty() && *end == '\0' && i < items(at).size() ? items(at)[i] : Value();
    } else {
      at = Value();
    }
  }
  return at;
}

/// Notes where $id and $anchor stand.
void Schema::find_names() {
  names_found_ = true;
  std::vector<Value> pending{root_};
  while (!pending.empty() && names_.size() < kMostNames) {
    const Value value = pending.back();
    pending.pop_back();
    if (value.is_sequence()) pending.insert(pending.end(), items(value).begin(), items(value).end());
    if (!value.is(Kind::dict)) continue;
    for (const std::string_view keyword : {"$anchor", "$dynamicAnchor"}) {
      if (const Value name = get(value, keyword); name.is_string()) names_.emplace("#" + std::string(leaf_text(name)), value);
    }
    for (const std::string_view keyword : {"$id", "id"}) {
      if (const Value name = get(value, keyword); name.is_string()) names_.emplace(leaf_text(name), value);
    }
    for (const DictEntry& entry : entries(value)) pending.push_back(entry.value);
  }
}

Value Schema::resolve(std::string_view reference) {
  if (reference == "#") return root_;
  if (reference.starts_with("#/")) return follow(root_, reference.substr(1));
  if (!names_found_) find_names();
  const std::size_t hash = std::min(reference.find('#'), reference.size());
  const std::string_view id = hash == 0 ? reference : reference.substr(0, hash);
  Value found;
  for (const auto& [name, value] : names_) {
    const bool ends = name.size() > id.size() && name.ends_with(id) && name[name.size() - id.size() - 1] == '/';
    if (name == id || (ends && found.is_undefined())) found = value;
  }
  const std::string_view fragment = hash == 0 ? std::string_view() : reference.substr(hash);
  if (found.is_undefined() || fragment.size() < 2) return found;
  return fragment[1] == '/' ? follow(found, fragment.substr(1)) : resolve(fragment);
}

}  // namespace parlance::grammar
