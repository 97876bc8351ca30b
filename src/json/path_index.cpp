// PathIndex: nodes in one row, each knowing its container; a path is read from the node up.
#include "json/path_index.h"

#include <algorithm>
#include <functional>

#include "base/unicode.h"
#include "json/document.h"
#include "json/json.h"
#include "value/dict.h"

namespace parlance {

void append_path_key(std::string& path, std::string_view key) {
  if (!unicode::str_is_identifier(key)) {
    path += '[';
    append_json_string(path, key);
    path += ']';
    return;
  }
  if (!path.empty()) path += '.';
  path += key;
}

void append_path_number(std::string& path, std::uint32_t number) { path += '[' + std::to_string(number) + ']'; }

PathIndex::PathIndex(Value root, Value closed) {
  nodes_.push_back({root, 0, 0, 0});
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const Value v = nodes_[i].value;
    const bool is_closed = closed.is_sequence() && v.is_sequence() && v.list == closed.list;
    if (!is_closed) add_children(i);
  }
  sort();
}

void PathIndex::add_children(std::uint32_t parent) {
  const Value container = nodes_[parent].value;
  if (container.is_sequence()) {
    for (std::uint32_t i = 0; i < container.list->size; ++i) nodes_.push_back({container.list->items[i], parent, i, 0});
  } else if (container.kind == Kind::dict) {
    for (std::uint32_t i = 0; i < container.dict->size; ++i) {
      nodes_.push_back({container.dict->entries[i].key, parent, i, 1});
      nodes_.push_back({container.dict->entries[i].value, parent, i, 0});
    }
  }
}

void PathIndex::sort() {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const Value& v = nodes_[i].value;
    if (v.is_leaf()) {
      strings_.push_back(i);
    } else if (origin_of(v) != 0) {
      others_.push_back(i);
    }
  }
  std::sort(strings_.begin(), strings_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return std::less<>()(nodes_[a].value.data, nodes_[b].value.data);
  });
  std::sort(others_.begin(), others_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return origin_of(nodes_[a].value) < origin_of(nodes_[b].value);
  });
}

void PathIndex::set_place(std::uint32_t node, PlaceInInput& place) const {
  place.is_key = nodes_[node].is_key != 0;
  std::vector<std::uint32_t> way;
  for (; node != 0; node = nodes_[node].parent) way.push_back(node);
  place.path.clear();
  for (std::size_t i = way.size(); i-- > 0;) {
    const Node& step = nodes_[way[i]];
    const Value container = nodes_[step.parent].value;
    if (container.kind == Kind::dict) {
      append_path_key(place.path, leaf_text(container.dict->entries[step.position].key));
    } else {
      append_path_number(place.path, step.position);
    }
  }
}

bool PathIndex::find(const char* address, PlaceInInput& place) const {
  const auto after =
      std::upper_bound(strings_.begin(), strings_.end(), address,
                       [this](const char* a, std::uint32_t node) { return std::less<>()(a, nodes_[node].value.data); });
  if (after == strings_.begin()) return false;
  const Value string = nodes_[*(after - 1)].value;
  const bool covers = string.data == address || std::less<>()(address, string.data + string.size);
  if (covers) set_place(*(after - 1), place);
  return covers;
}

bool PathIndex::find(std::uint32_t origin, PlaceInInput& place) const {
  const auto found =
      std::lower_bound(others_.begin(), others_.end(), origin,
                       [this](std::uint32_t node, std::uint32_t id) { return origin_of(nodes_[node].value) < id; });
  if (found == others_.end() || origin_of(nodes_[*found].value) != origin) return false;
  set_place(*found, place);
  return true;
}

}  // namespace parlance
