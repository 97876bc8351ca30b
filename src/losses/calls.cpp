// Calls that are not in the prompt, and what of them. Begin reading at find_lost_calls.
#include <algorithm>

#include "conversation/edit.h"
#include "losses/bookkeeping.h"
#include "losses/text_search.h"
#include "parlance/json.h"

namespace parlance {
namespace {

class CallSearch {
 public:
  explicit CallSearch(TextSearch& search) : search_(search) {}

  void call(Value value, const Place& place, Tally& every) {
    if (value.kind != Kind::dict) return search_.leaves(false, value, "call", place, every);
    const Value* wrapped = member(value, "function");
    const bool is_wrapped = wrapped != nullptr && wrapped->kind == Kind::dict;
    const Value inside = is_wrapped ? *wrapped : value;
    const Place function = place["function"];
    const Place& here = is_wrapped ? function : place;
    Tally one = search_.tally();
    const Value* const name = member(inside, "name");
    const Value* const said = member(inside, "arguments");
    const bool is_given = name != nullptr && !(search_.is_converted() && search_.is_made(*name));
    if (is_given) search_.text(*name, "call", here["name"], one);
    if (said != nullptr) arguments(*said, here["arguments"], one);
    others(inside, here, {}, said == nullptr, one);
    if (is_wrapped) others(value, place, inside, said == nullptr && name == nullptr, one);
    if (one.all_lost()) search_.lose_whole(one, "call", search_.path_of(value, place));
    every.add(one);
  }

 private:
  /// What a call has besides. Of one that is no function's, or whose arguments have another name, nothing is known of
  /// its members: then `all` that they say counts. Beside a wrapped function, `inner`, what belongs into it may stand
  /// there too, as by a brace too early.
  void others(Value value, const Place& place, Value inner, bool all, Tally& one) {
    for (const DictEntry& entry : entries(value)) {
      const std::string_view name = leaf_text(entry.key);
      const bool is_own = name == "name" || name == "arguments", is_outside = is_own && !inner.is_undefined();
      if (name == "function" && entry.value.kind == Kind::dict) continue;
      if (is_outside ? is_said_inside(entry, inner) : is_own) continue;
      if (!is_own && is_one_of(name, kIds)) {
        search_.id(entry.value, place[name]);
      } else if (is_bookkeeping(name)) {
        continue;
      } else if (all || search_.is_any_reached(entry.value)) {
        search_.leaves(search_.is_key_reached(value, entry.key), entry.value, "call", place[name], one);
      } else if (has_data(entry.value) && !search_.is_key_reached(value, entry.key)) {
        search_.lose_member("call", entry.value, place[name], one, is_outside ? "it belongs into 'function'" : "");
      }
    }
  }

  static bool is_said_inside(const DictEntry& outside, Value inner) {
    const Value* there = member(inner, leaf_text(outside.key));
    if (there == nullptr) return false;
    // A tool's own parameters may have the names of bookkeeping.
    const bool are_arguments = outside.value.kind == Kind::dict && there->kind == Kind::dict;
    return are_arguments ? json_text(outside.value) == json_text(*there) : says_the_same(outside.value, *there);
  }

  void arguments(Value value, const Place& place, Tally& one) {
    if (value.is_sequence()) return search_.leaves(false, value, "argument", place, one);
    if (value.is_leaf() && leaf_text(value).empty()) return;  // none
    if (value.kind != Kind::dict) return search_.text(value, "argument", place, one);
    std::string path = search_.path_of(value, place);
    if (path.ends_with("arguments")) search_.read_from_text(&place, std::move(path));
    for (const DictEntry& entry : entries(value)) {
      const Place here = place[leaf_text(entry.key)];
      Tally argument = search_.tally();
      search_.leaves(search_.is_key_reached(value, entry.key), entry.value, "argument", here, argument);
      if (argument.all_lost() && search_.lost_since(argument) > 1)
        search_.lose_whole(argument, "argument", search_.path_of(entry.value, here));
      one.add(argument);
    }
    search_.read_from_text(nullptr);
  }

  TextSearch& search_;
};

}  // namespace

void find_lost_calls(TextSearch& search, Value calls, const Place& place, Tally& all) {
  if (!has_content(calls)) return;
  if (calls.kind != Kind::list) return search.leaves(false, calls, "call", place, all);
  Tally every = search.tally();
  for (std::uint32_t i = 0; i < calls.list->size; ++i) CallSearch(search).call(calls.list->items[i], place[i], every);
  if (every.all_lost() && calls.list->size > 1) search.lose_whole(every, "call", search.path_of(calls, place));
  all.add(every);
}

}  // namespace parlance
