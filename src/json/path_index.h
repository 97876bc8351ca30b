// PathIndex: where each string and each value of a tree is, found again by address or by origin id.
//
// Made when the first path is asked for: one walk, then binary searches, so that the paths of a prompt's spans take
// time in proportion to the prompt. Most renders never ask, so nothing is kept for it while a request is read. Begin
// reading at PathIndex::find.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/value.h"

namespace parlance {

/// Where something stands in a conversation's JSON.
struct PlaceInInput {
  std::string path;           ///< "messages[3].content"; for a key, the path of its value
  bool is_key = false;        ///< it is a key of a dict, not a value
  std::int32_t message = -1;  ///< number in the top-level list "messages", or -1
};

/// Appends ".key", or ["key"] where it is no identifier.
void append_path_key(std::string& path, std::string_view key);
void append_path_number(std::string& path, std::uint32_t number);

/// Immutable once made. The tree must outlive it.
class PathIndex {
 public:
  /// Of all below `root`, but for what is in `closed` (a list; undefined: nothing), whose own place is known still.
  PathIndex(Value root, Value closed);

  /// Sets path and is_key for the string that covers `address`, or the value with the origin id. False: there is none.
  bool find(const char* address, PlaceInInput& place) const;
  bool find(std::uint32_t origin, PlaceInInput& place) const;

 private:
  struct Node {
    Value value;
    std::uint32_t parent;         ///< number of the container's node; the root is its own
    std::uint32_t position : 31;  ///< among the container's items
    std::uint32_t is_key : 1;
  };
  void add_children(std::uint32_t parent);
  void sort();
  void set_place(std::uint32_t node, PlaceInInput& place) const;

  std::vector<Node> nodes_;             ///< containers before what is in them
  std::vector<std::uint32_t> strings_;  ///< numbers of the nodes that are strings, by address
  std::vector<std::uint32_t> others_;   ///< of all others, by origin id
};

}  // namespace parlance
