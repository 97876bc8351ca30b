// The methods of Python's builtin types that a template may call, one table for each file, and the
// shorthands their code shares. find_method and find_attribute (builtins.h) look into the tables.
//
// Rules: CPython 3.11, as far as Jinja2's immutable sandbox lets a template see it. Results are
// views of the receiver wherever bytes are unchanged. Begin reading at the tables.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/call.h"
#include "value/markup.h"

namespace parlance::jinja {

/// Is `name` one of the words of `list`, which begins and ends in a space, as each word does?
inline bool is_word_of(std::string_view list, std::string_view name) {
  for (std::size_t at = list.find(name); at != std::string_view::npos; at = list.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (at > 0 && list[at - 1] == ' ' && end < list.size() && list[end] == ' ') return name.find(' ') == name.npos;
  }
  return false;
}

std::span<const Builtin> text_case_methods();       ///< methods_text_case.cpp: upper, title, casefold …
std::span<const Builtin> text_methods();            ///< methods_text.cpp: join, replace, center, format …
std::span<const Builtin> text_search_methods();     ///< methods_text_search.cpp: find, count, startswith …
std::span<const Builtin> text_split_methods();      ///< methods_text_split.cpp: split, strip, partition …
std::span<const Builtin> text_predicate_methods();  ///< methods_text_predicates.cpp: isalpha …
std::span<const Builtin> text_table_methods();      ///< methods_text_table.cpp: encode, maketrans, translate
std::span<const Builtin> markup_methods();          ///< methods_markup.cpp: what Markup has beyond str
std::span<const Builtin> list_methods();            ///< methods_container.cpp
std::span<const Builtin> tuple_methods();
std::span<const Builtin> dict_methods();
std::span<const Builtin> dict_view_methods();
std::span<const Builtin> range_methods();
std::span<const Builtin> integer_methods();  ///< methods_number.cpp
std::span<const Builtin> real_methods();
std::span<const Builtin> list_changes();  ///< methods_change.cpp: only with CompileOptions::allow_changes
std::span<const Builtin> dict_changes();

/// The method `name` that would change `v`, if a template that may change what it makes has it: `v` is a list or a
/// dict that this render made; else null. In methods_change.cpp.
const Builtin* find_change(const Runtime& rt, Value v, std::string_view name);

/// Every table above, for documentation and listings: the type a template author would name and its
/// rows.
struct MethodTable {
  std::string_view type;
  std::span<const Builtin> rows;
  bool needs_allow_changes = false;
};
std::span<const MethodTable> method_tables();

/// Is the name `__x__`? Python's values have many of these, and the sandbox refuses those that they have. Here all are
/// refused, on every value, unless a key of that name is there.
inline bool is_dunder(std::string_view name) {
  return name.size() >= 4 && name.starts_with("__") && name.ends_with("__");
}

/// Argument i as an int that fits the machine; TypeError or OverflowError is recorded otherwise.
bool index_argument(const Call& call, std::size_t i, std::int64_t& out);
/// The same for what CPython keeps in a C int.
bool small_argument(const Call& call, std::size_t i, std::int64_t& out);
/// Argument i, a string, as CPython hands it to C: UnicodeEncodeError is recorded if it has
/// surrogates.
bool utf8_argument(const Call& call, std::size_t i, std::string_view& out);
/// Argument i as a bound of find, count, index: clamped, none gives `absent`.
bool bound_argument(const Call& call, std::size_t i, std::int64_t absent, std::int64_t& out);
/// Records "<what><type of argument i>" as a TypeError, and gives the invalid value.
Value fail_type(const Call& call, std::size_t i, std::string_view what);

/// str.lower() and str.upper() of a string; the string itself where nothing changes, Markup kept.
Value lower_text(Runtime& rt, Value s);
Value upper_text(Runtime& rt, Value s);
/// Argument i for a result that is Markup if the receiver is: escaped then, as it is otherwise.
Value argument_for_self(const Call& call, std::size_t i);

/// Bytes [begin, end) of `s` as a view; charges for the search through the pieces of a rope.
Value cut(Runtime& rt, Value s, std::size_t begin, std::size_t end);

/// Finds a needle in a text again and again. The work a hostile needle causes is charged; after a
/// failure everything is "not found".
class Finder {
 public:
  Finder(Runtime& rt, std::string_view needle) : rt_(rt), needle_(needle) {}
  /// The first occurrence at or after `from`, or npos. The needle is not empty.
  std::size_t next(std::string_view text, std::size_t from);
  /// The last occurrence that ends at or before `to`, or npos.
  std::size_t previous(std::string_view text, std::size_t to);

 private:
  bool matches(const char* at);
  Runtime& rt_;
  std::string_view needle_;
  std::uint64_t unpaid_ = 0;
};

}  // namespace parlance::jinja
