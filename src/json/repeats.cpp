// repeated_members: containers in one row, each knowing where it stands in which; a path is read from the node up.
#include "json/repeats.h"

#include <map>
#include <string_view>

#include "json/path_index.h"
#include "value/dict.h"

namespace parlance {
namespace {

class RepeatFinder {
 public:
  explicit RepeatFinder(Value root) { add(root, 0, 0); }

  std::vector<RepeatedMember> run() {
    for (std::uint32_t at = 0; at < nodes_.size() && !is_full(); ++at) {
      const Value container = nodes_[at].container;
      if (container.kind == Kind::dict) {
        look_at(*container.dict, at);
        for (std::uint32_t i = 0; i < container.dict->size; ++i) add(container.dict->entries[i].value, at, i);
      } else {
        for (std::uint32_t i = 0; i < container.list->size; ++i) add(container.list->items[i], at, i);
      }
    }
    return std::move(found_);
  }

 private:
  struct Node {
    Value container;
    std::uint32_t parent;    ///< number of the container's node; the root is its own
    std::uint32_t position;  ///< among the container's items
  };

  void add(Value value, std::uint32_t parent, std::uint32_t position) {
    if (value.kind == Kind::dict || value.is_sequence()) nodes_.push_back({value, parent, position});
  }

  /// The entries behind those that are left had keys that were there already.
  void look_at(const DictObject& dict, std::uint32_t at) {
    if (dict.size == dict.capacity) return;
    std::map<std::string_view, std::uint32_t> times;
    for (std::uint32_t i = dict.size; i < dict.capacity; ++i) ++times[leaf_text(dict.entries[i].key)];
    std::string path;
    append_path(path, at);
    for (std::uint32_t i = 0; i < dict.size && !is_full(); ++i) {
      const std::string_view key = leaf_text(dict.entries[i].key);
      const auto again = times.find(key);
      if (again == times.end()) continue;
      found_.push_back({path, again->second + 1});
      append_path_key(found_.back().path, key);
      path_bytes_ += found_.back().path.size();
    }
  }

  void append_path(std::string& path, std::uint32_t at) const {
    std::vector<std::uint32_t> way;
    for (; at != 0; at = nodes_[at].parent) way.push_back(at);
    for (std::size_t i = way.size(); i-- > 0;) {
      const Node& step = nodes_[way[i]];
      const Value around = nodes_[step.parent].container;
      if (around.kind == Kind::dict) {
        append_path_key(path, leaf_text(around.dict->entries[step.position].key));
      } else {
        append_path_number(path, step.position);
      }
    }
  }

  bool is_full() const {
    constexpr std::size_t kMost = std::size_t{16} << 10;
    return path_bytes_ >= kMost;
  }

  std::vector<Node> nodes_;
  std::vector<RepeatedMember> found_;
  std::size_t path_bytes_ = 0;
};

}  // namespace

std::vector<RepeatedMember> repeated_members(Value root) { return RepeatFinder(root).run(); }

std::string sentence_of(const RepeatedMember& member) {
  const std::string times = member.times == 2 ? "twice" : std::to_string(member.times) + " times";
  return "given " + times + ": the last counts";
}

}  // namespace parlance
