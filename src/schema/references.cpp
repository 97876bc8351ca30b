// What a $ref refers to; see references.h. Begin reading at References::resolve.
#include "schema/references.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/ascii.h"

namespace parlance::schema {
namespace {

constexpr std::size_t kMostNames = 10000;

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool may_be = text[i] == '%' && i + 2 < text.size();
    const int high = may_be ? ascii::hex_value(text[i + 1]) : -1, low = may_be ? ascii::hex_value(text[i + 2]) : -1;
    const bool escape = high >= 0 && low >= 0;
    out += escape ? static_cast<char>(high * 16 + low) : text[i];
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

Value member_of(Value dict, std::string_view key) {
  const DictEntry* entry = find_key(*dict.dict, key);
  return entry == nullptr ? Value() : entry->value;
}

Value follow(Value at, std::string_view pointer) {
  const std::string decoded = percent_decoded(pointer);
  std::string_view rest = decoded;
  while (!rest.empty() && !at.is_undefined()) {
    rest.remove_prefix(1);
    const std::size_t size = std::min(rest.find('/'), rest.size());
    const std::string step = pointer_step(rest.substr(0, size));
    rest.remove_prefix(size);
    if (at.is(Kind::dict)) {
      at = member_of(at, step);
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

}  // namespace

/// Notes where $id and $anchor stand.
void References::find_names() {
  found_ = true;
  std::vector<Value> pending{root_};
  while (!pending.empty() && names_.size() < kMostNames) {
    const Value value = pending.back();
    pending.pop_back();
    if (value.is_sequence()) pending.insert(pending.end(), items(value).begin(), items(value).end());
    if (!value.is(Kind::dict)) continue;
    for (const std::string_view keyword : {"$anchor", "$dynamicAnchor"}) {
      if (const Value name = member_of(value, keyword); name.is_string())
        names_.emplace("#" + std::string(leaf_text(name)), value);
    }
    for (const std::string_view keyword : {"$id", "id"}) {
      if (const Value name = member_of(value, keyword); name.is_string()) names_.emplace(leaf_text(name), value);
    }
    for (const DictEntry& entry : entries(value)) pending.push_back(entry.value);
  }
}

Value References::resolve(std::string_view reference) {
  if (reference == "#") return root_;
  if (reference.starts_with("#/")) return follow(root_, reference.substr(1));
  if (const auto known = resolved_.find(reference); known != resolved_.end()) return known->second;
  const Value found = look_up(reference);
  if (resolved_.size() < kMostNames) resolved_.emplace(reference, found);
  return found;
}

/// A name, which may be the end of an $id, and what stands behind it.
Value References::look_up(std::string_view reference) {
  if (!found_) find_names();
  const std::size_t hash = std::min(reference.find('#'), reference.size());
  const std::string_view id = hash == 0 ? reference : reference.substr(0, hash);
  Value found;
  if (const auto exact = names_.find(id); exact != names_.end()) found = exact->second;
  for (auto name = names_.begin(); found.is_undefined() && name != names_.end(); ++name) {
    const std::string& text = name->first;
    if (text.size() > id.size() && text.ends_with(id) && text[text.size() - id.size() - 1] == '/') found = name->second;
  }
  const std::string_view fragment = hash == 0 ? std::string_view() : reference.substr(hash);
  if (found.is_undefined() || fragment.size() < 2) return found;
  return fragment[1] == '/' ? follow(found, fragment.substr(1)) : resolve(fragment);
}

}  // namespace parlance::schema
