// How values are written: as JSON, as Python's literals, with bare keys and quotes without escapes, or as they are.
//
// A schema says which values are allowed and nothing of their notation; a format has one of four. With a Style between
// the two, each keyword of JSON Schema is compiled once. Begin reading at Style::unit.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grammar/ir.h"
#include "grammar/regex.h"

namespace parlance::grammar {

class Style {
 public:
  enum class Kind : std::uint8_t {
    json,  ///< with a `quote`: JSON that stands in a call of Python and is read as that
    python,
    bare,  ///< keys without quotes, strings between `quote` without escapes
    raw,   ///< a string as it is, up to `quote`, which belongs to it
  };
  /// How much white space may stand between the parts of a container.
  enum class Space : std::uint8_t { none, blank, lines };

  /// How raw strings hide markup.
  enum class Escape : std::uint8_t {
    none,
    xml,
    cdata,
    avoid,  ///< not at all: a text does not begin as a tag does
  };

  /// `gap`: raw: white space that may stand before the end, and is none of the string.
  Style(Ir& ir, Kind kind, Space space, std::string quote = {}, std::vector<std::string> never = {},
        Escape escape = Escape::none, std::string gap = {});
  Kind kind() const { return kind_; }
  Ir& ir() const { return ir_; }

  /// Any string, with its quotes.
  NodeId string() const { return string_; }
  /// A string of a content that is made of units. What begins one of `never` is an escape in JSON and Python, and does
  /// not occur elsewhere.
  NodeId string_of(const std::function<NodeId(const Unit&)>& content) const;
  /// This string. Nothing where it cannot be written.
  std::optional<NodeId> constant(std::string_view text) const;
  /// A name in front of a value, with what separates them. Nothing where it cannot be written.
  std::optional<NodeId> key(std::string_view name) const;
  /// Any key but these, or a key of a content that is made of units.
  NodeId key_except(std::vector<std::string> names) const;
  NodeId key_of(const std::function<NodeId(const Unit&)>& content) const;

  /// Strings of a content that was asked for before, by what it is said with; kNone: it was not.
  NodeId& known_string(const std::string& content) const { return known_.try_emplace(content, kNone).first->second; }

  NodeId boolean(bool value) const {
    const bool python = kind_ == Kind::python;
    return ir_.token(ir_.literal(value ? (python ? "True" : "true") : python ? "False" : "false"));
  }
  /// Templates that write bare values print Python's word too.
  NodeId null() const {
    if (kind_ == Kind::bare) return ir_.token(ir_.choice({ir_.literal("null"), ir_.literal("None")}));
    return ir_.token(ir_.literal(kind_ == Kind::python ? "None" : "null"));
  }
  NodeId space() const { return space_; }
  NodeId comma() const { return ir_.sequence({ir_.literal(","), space_}); }
  NodeId open(char bracket) const { return ir_.sequence({ir_.literal({&bracket, 1}), space_}); }
  NodeId close(char bracket) const { return ir_.sequence({space_, ir_.literal({&bracket, 1})}); }
  /// What stands in brackets. Where that may be nothing, white space stands there once, so that it is clear whose it
  /// is.
  NodeId bracketed(char begin, NodeId content, char end) const;

 private:
  NodeId unit(std::vector<Range> ranges, char quote) const;
  NodeId any_unit(const std::vector<Range>& ranges, char quote) const;
  NodeId json_unit(const std::vector<Range>& ranges) const;
  NodeId python_unit(const std::vector<Range>& ranges, char quote) const;
  NodeId plain_unit(const std::vector<Range>& ranges) const;
  NodeId escape_of_any() const;
  NodeId stray_backslash() const;
  NodeId any_string() const;
  NodeId end() const;
  NodeId python_string(char quote) const;
  NodeId marked_string() const;
  NodeId string_before_tags() const;
  // style_guarded.cpp
  NodeId guarded_string(char quote) const;
  std::string spelled(std::string_view text) const;
  bool holds_never(std::string_view text) const;
  std::optional<NodeId> plain_constant(std::string_view text) const;
  NodeId after_key() const;
  NodeId letters_except(const std::vector<std::string>& names, const Unit& unit) const;

  Ir& ir_;
  Kind kind_;
  std::string quote_;
  std::vector<std::string> never_;  ///< what must not occur in a string, as it is written
  Escape escape_;
  std::string gap_;
  std::vector<Range> begins_;  ///< what those of `never_` begin with
  NodeId space_;
  NodeId string_;
  mutable std::unordered_map<std::string, NodeId> known_;
  mutable std::map<std::pair<char32_t, char>, NodeId> units_;  ///< of single code points
};

}  // namespace parlance::grammar
