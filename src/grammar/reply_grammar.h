// A reply as nodes: where the prompt leaves off, reasoning, text that begins nothing else, calls. Begin reading at
// ReplyGrammar::make.
//
// The reader decides what a reply means, so a grammar must be narrower than the reader: it allows a text only if the
// reader takes it in the same way. It must also be as wide as the template, since models write what they were trained
// on.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "grammar/arguments_grammar.h"
#include "grammar/data.h"
#include "grammar/schema.h"

namespace parlance::grammar {

class ReplyGrammar {
 public:
  ReplyGrammar(GrammarData& data, const ReplyFormat& format, Notes& notes);
  /// The node of the whole reply; tells the outline too.
  NodeId make();

 private:
  enum class Region : std::uint8_t { answer, reasoning, content, after_content, header };
  /// Where the prompt leaves off.
  struct Start {
    Region region = Region::answer;
    bool reasoned = false;  ///< reasoning is over
    std::string inside{};   ///< the beginning of a marker that the prompt ends with
    std::string gap{};      ///< what templates write behind the last close, as far as the prompt does not have it
  };
  /// Tools that are called in one form.
  struct Group {
    const CallForm* form;
    std::vector<std::size_t> tools;
  };

  // reply_start.cpp
  Start start() const;
  std::string inside_marker(std::string_view prompt) const;
  // response.cpp
  bool has_response() const;
  NodeId response();
  NodeId whole_response();
  NodeId calls_or_response();
  bool is_json_response() const;
  NodeId json_response();
  NodeId pattern_response();
  NodeId choice_response();
  // initial_text.cpp
  NodeId text_not_initial();
  std::vector<std::string> initial_openings() const;
  // reply_grammar.cpp
  NodeId answer(Region region);
  NodeId content();
  NodeId closing_of_content();
  NodeId behind_no_content(NodeId called);
  NodeId free_text(const std::vector<Stop>& openings, bool may_end);
  NodeId unclosed_content();
  NodeId behind_gap(NodeId gap, NodeId behind);
  NodeId reasoning(NodeId behind, bool opened);
  NodeId before_end();
  void group_tools();
  std::vector<std::string> closings(const CallForm& form) const;
  void outline_calls();
  std::vector<Stop> forbidden(bool in_reasoning) const;
  bool calls_allowed() const { return !groups_.empty(); }
  // calls.cpp
  NodeId calls(bool with_opening);
  bool allows_text_behind() const;
  void note_limits();
  void make_lazy(const Start& from);
  void note_text_behind();
  NodeId repeated(NodeId further);
  NodeId text_behind(std::uint32_t left);
  NodeId call_and_text(const Group& group, std::uint32_t left);
  std::vector<Stop> openings(std::uint32_t left);
  std::uint32_t most_calls() const;
  NodeId single_calls(std::size_t first, bool with_opening);
  NodeId grouped_calls(const Group& group, bool with_opening);
  NodeId any_single(bool with_opening);
  static std::string gap(const CallForm& form);
  NodeId gap_between(const CallForm& form);
  NodeId between(const CallForm& form);
  NodeId behind_call(const CallForm& form);
  bool ends_reply(const ReplyMarker& marker) const;
  bool closes_apart(const CallForm& form) const;
  NodeId closing_apart(const CallForm& form);
  NodeId lead_of_singles();
  NodeId dummy_prefix(const ReplyTurn& turn);
  NodeId headed_calls();
  NodeId call_of_group(const Group& group, bool with_opening);
  NodeId call(const CallForm& form, std::size_t tool, bool with_opening);
  std::string opening(const CallForm& form) const;
  /// The white space that templates write before the opening of a form's first call.
  NodeId lead(const CallForm& form);
  NodeId with_blank_in_place(const CallArguments& codec, NodeId node);
  NodeId id(const std::string& pattern, std::string_view name);
  NodeId object(const CallForm& form, const std::vector<CallMember>& members, const CallArguments& arguments,
                std::size_t tool);

  GrammarData& data_;
  Ir& ir_;
  const ReplyFormat& format_;
  Notes& notes_;
  ArgumentsGrammar arguments_;
  std::vector<Group> groups_;
  std::map<std::uint32_t, NodeId> text_behind_;  ///< by how many calls may still come
  bool lead_stands_ = false;                     ///< white space before calls is written already
  NodeId response_ = kNone;
  std::unique_ptr<Schema> response_schema_;
};

/// What text must not hold: the texts of a marker.
void forbid(std::vector<Stop>& stops, const ReplyMarker& marker);
/// The pattern as one that all of a text matches.
std::string whole_pattern(std::string_view pattern);
/// White space at a marker: the whole of it first, or what it ends with (begins with), or none.
NodeId ending_of(Ir& ir, std::string_view blanks);
NodeId beginning_of(Ir& ir, std::string_view blanks);
/// Every way in which the white space inside a marker's text may be shortened, the text itself first.
std::vector<std::string> soft_variants(std::string_view text);
/// The node of what a text goes on with once `prefix` stands; never() where it cannot begin so.
NodeId after_prefix(Ir& ir, NodeId node, std::string_view prefix);
/// A name or a key as it stands in an attribute.
std::string in_attribute(std::string_view text, TextEscape escape);
/// The node with each text in it written as the inside of a JSON string.
NodeId escaped(Ir& ir, NodeId node);

}  // namespace parlance::grammar
