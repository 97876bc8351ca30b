// Machine: a ReplyFormat made ready to read with: the markers that count in each place of a reply, as tries; the keys
// of objects, by level.
//
// Shared by all copies of a parser and never changed. Begin reading at Machine's members.
#pragma once
#include <memory>
#include <vector>

#include "parlance/reply.h"
#include "reply/read/marker_trie.h"

namespace parlance::reply {

/// The keys that mean something on one level of a call's object.
struct ObjectLevel {
  const std::vector<CallMember>* members = nullptr;
  std::vector<std::uint8_t> inner{};  ///< for each member, the level of its object
  std::uint8_t parent = 0;
  bool any_name = false;  ///< a key of no member is the name
};

/// The markers inside of arguments in tags.
struct TagTries {
  MarkerTrie between;  ///< where a tag may open, or the arguments end
  MarkerTrie key;      ///< in a key: its end
  MarkerTrie type;
  MarkerTrie value;    ///< in a value: its end, or what says that the end is missing
  MarkerTrie behind;   ///< behind a value: what tells that its end was one
  MarkerTrie over;     ///< behind a call of a section, the same
  MarkerTrie begin;    ///< where a value begins that may be nested
  MarkerTrie key_end;  ///< in the key that a closing tag repeats
  MarkerTrie cdata;
};

/// What counts in and around calls of one form.
struct Form {
  Form(const ReplyFormat& format, std::size_t index);
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  bool is_literal(std::size_t part) const {
    return part < form->call.size() && form->call[part].kind == CallPart::Kind::literal;
  }
  /// What should stand there, in words.
  std::string_view literal_text(std::size_t part) const { return form->call[part].literal.texts.front(); }

  const CallForm* form;
  std::size_t last_value = 0;  ///< the last part that is no literal: behind it the call is over
  std::size_t arguments_part = kNone;
  std::string_view last_bracket{};   ///< what calls end with, where no marker does
  bool has_sibling = false;          ///< a later form may begin with the same text
  bool has_program = false;          ///< one of them reads a program
  bool may_be_program = false;       ///< JSON that a later form would read as a program, if it is not JSON to its end
  std::vector<MarkerTrie> literals;  ///< for each part: itself, where it is a literal that is due
  std::vector<MarkerTrie> fields;    ///< for each part: what ends its text, where it is one
  MarkerTrie begin;                  ///< what begins a call of this form
  MarkerTrie open;                   ///< headed: what must follow the header
  MarkerTrie next;                   ///< between calls of a section
  MarkerTrie close;                  ///< behind the calls of a section or list
  MarkerTrie code;                   ///< in a program: what ends it
  MarkerTrie proof;                  ///< may_be_program: what must stand behind the JSON
  MarkerTrie broken;                 ///< in a call that went wrong: what ends that
  TagTries tags;
  std::vector<ObjectLevel> levels;  ///< of the object; the first is the outermost

 private:
  void add_levels(const std::vector<CallMember>& members, std::uint8_t parent);
  void add_parts(const ReplyFormat& format, std::size_t index);
  void add_tags(const ReplyFormat& format, std::size_t index, std::size_t part);
  void add_behind(const ReplyFormat& format, std::size_t index, std::size_t part);
  void add_code(const ReplyFormat& format, std::size_t part);
  void add_broken(const ReplyFormat& format, std::size_t index);
  void add_proof(const ReplyFormat& format, std::size_t index);
  friend struct Machine;
};

struct Machine {
  Machine(const ReplyFormat& format, const ReplyOptions& options);
  static constexpr std::size_t kNone = Form::kNone;

  /// The form that a turn with this header begins, or kNone.
  std::size_t form_of_header(std::string_view header) const;
  const ReplyTurn* assistant() const { return assistant_turn == kNone ? nullptr : &format.turns[assistant_turn]; }

  ReplyFormat format;
  ReplyLimits limits;
  ReplyTools tools;
  std::size_t assistant_turn = kNone;
  bool has_initial = false;
  bool begins_in_reasoning = false;  ///< whatever the prompt says
  MarkerTrie content;
  MarkerTrie behind_calls;  ///< content, and what closes calls: once more it is none of the answer
  MarkerTrie reasoning;
  MarkerTrie turns;  ///< text of other roles
  std::vector<Form> forms;
};

}  // namespace parlance::reply
