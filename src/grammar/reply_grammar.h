// A reply as nodes: where the prompt leaves off, reasoning, text that begins nothing else, calls. Begin reading at
// ReplyGrammar::make.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "grammar/data.h"
#include "grammar/schema.h"

namespace parlance::grammar {

class ReplyGrammar {
 public:
  ReplyGrammar(Grammar::Data& data, const ReplyFormat& format, Notes& notes);
  /// The node of the whole reply; tells the outline too.
  NodeId make();

 private:
  enum class Region : std::uint8_t { answer, reasoning, content, after_content, header };
  /// Where the prompt leaves off.
  struct Start {
    Region region = Region::answer;
    bool reasoned = false;     ///< reasoning is over
    std::string inside{};      ///< the beginning of a marker that the prompt ends with
  };
  /// Tools that are called in one form.
  struct Group {
    const CallForm* form;
    std::vector<std::size_t> tools;
  };

  // reply_start.cpp
  Start start() const;
  std::string inside_marker(std::string_view prompt) const;
  // reply_grammar.cpp
  NodeId answer(Region region);
  NodeId content();
  NodeId free_text(const std::vector<Stop>& openings, bool may_end);
  NodeId text_not_initial();
  NodeId reasoning(NodeId behind, bool opened);
  void group_tools();
  void outline_calls();
  std::vector<Stop> forbidden(bool in_reasoning) const;
  void forbid(std::vector<Stop>& stops, const ReplyMarker& marker) const;
  bool calls_allowed() const { return !groups_.empty(); }
  // calls.cpp
  NodeId calls(bool with_opening);
  bool allows_text_behind() const;
  void note_text_behind();
  NodeId text_behind();
  NodeId call_and_text(const Group& group);
  std::vector<Stop> openings();
  NodeId single_calls(std::size_t first, bool with_opening);
  NodeId grouped_calls(const Group& group, bool with_opening);
  NodeId any_single(bool with_opening);
  NodeId headed_calls();
  NodeId call_of_group(const Group& group, bool with_opening);
  NodeId call(const CallForm& form, std::size_t tool, bool with_opening);
  std::string opening(const CallForm& form) const;
  NodeId id(const std::string& pattern, std::string_view name);
  NodeId object(const CallForm& form, const std::vector<CallMember>& members, const CallArguments& arguments, std::size_t tool);
  // arguments.cpp
  NodeId arguments(const CallArguments& arguments, std::size_t tool, const std::string& closing);
  NodeId make_arguments(const CallArguments& arguments, std::size_t tool, const std::string& closing);
  NodeId json_arguments(const CallArguments& arguments, std::size_t tool);
  NodeId keyword_arguments(const CallArguments& arguments, std::size_t tool);
  // tagged_arguments.cpp
  /// What tags are written for.
  struct Tagged {
    const ArgumentTags& tags;
    std::size_t tool;
    std::string after;  ///< what stands behind all arguments, which no string may hold
    int depth;
  };
  NodeId tagged_members(const Tagged& to, const Schemas& schemas, const std::string& name);
  NodeId tag(const Tagged& to, const Schemas& schemas, NodeId key_node, const std::string& key);
  NodeId tagged_value(const Tagged& to, const Schemas& schemas, const std::string& name, const std::string& closing);
  NodeId nested_list(const Tagged& to, const Schemas& schemas);
  std::string type_word(const ArgumentTags& tags, Types types) const;
  NodeId code_argument(std::size_t tool, const std::string& closing);
  Schema& schema(std::size_t tool);
  Schemas parameters(std::size_t tool) const;
  const Style& style(Style::Kind kind, Style::Space space, const std::string& quote = {},
                     Style::Escape escape = Style::Escape::none, const std::vector<std::string>& never = {});
  std::vector<std::string> end_texts() const;

  Grammar::Data& data_;
  Ir& ir_;
  const ReplyFormat& format_;
  Notes& notes_;
  Shared shared_;
  std::vector<Group> groups_;
  std::vector<std::unique_ptr<Schema>> schemas_;
  struct NamedStyle {
    std::string key;
    Style style;
  };
  std::deque<NamedStyle> styles_;
  std::size_t tags_made_ = 0;
  NodeId text_behind_ = kNone;
};

/// Every way in which the white space inside a marker's text may be shortened, the text itself first.
std::vector<std::string> soft_variants(std::string_view text);
/// The node of what a text goes on with once `prefix` stands; never() where it cannot begin so.
NodeId after_prefix(Ir& ir, NodeId node, std::string_view prefix);
/// A name or a key as it stands in an attribute.
std::string in_attribute(std::string_view text, TextEscape escape);
/// The node with each text in it written as the inside of a JSON string.
NodeId escaped(Ir& ir, NodeId node);

}  // namespace parlance::grammar
