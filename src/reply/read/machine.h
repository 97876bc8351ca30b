// Machine: a ReplyFormat made ready to read with: the markers that count in each place of a reply, as tries; the keys
// of objects, by level.
//
// Shared by all parsers of a format (compiled_format.h) and never changed: nothing in it depends on a request, but for
// the texts that end its reply. Begin reading at Machine's members.
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
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
  void add_closed_tag(std::size_t index, std::size_t part);
  void add_levels(const std::vector<CallMember>& members, std::uint8_t parent);
  void add_parts(const ReplyFormat& format, std::size_t index);
  void add_arguments(const ReplyFormat& format, std::size_t index, std::size_t part);
  void add_tags(const ReplyFormat& format, std::size_t index, std::size_t part);
  void add_behind(const ReplyFormat& format, std::size_t index, std::size_t part);
  void add_code(const ReplyFormat& format, std::size_t part);
  void add_broken(const ReplyFormat& format, std::size_t index);
  void add_proof(const ReplyFormat& format, std::size_t index);
  void settle();
  friend struct Machine;
};

/// Texts that end a reply only where nothing follows them (ReplyFormat::last).
class LastTexts {
 public:
  explicit LastTexts(const std::vector<std::string>& texts);
  bool empty() const { return longest_ == 0; }
  bool begins(char c) const { return first_[static_cast<unsigned char>(c)]; }
  /// Whether the end of `bytes` may be the beginning of one, as far as two bytes tell.
  bool may_begin_in(std::string_view bytes) const {
    const char* const end = bytes.data() + bytes.size();
    for (const char* p = end - std::min(bytes.size(), longest_); p != end; ++p) {
      if (begins(*p) && (p + 1 == end || second_[static_cast<unsigned char>(p[1])])) return true;
    }
    return false;
  }
  std::size_t longest() const { return longest_; }
  /// Whether one begins with all of these bytes.
  bool is_beginning(const std::vector<std::string>& texts, std::string_view bytes) const;
  /// How many bytes at the end of `bytes` may be the beginning of one.
  std::size_t size_of_beginning(const std::vector<std::string>& texts, std::string_view bytes) const;

 private:
  std::array<bool, 256> first_{};   ///< of each byte: does a text begin with it?
  std::array<bool, 256> second_{};  ///< and does it stand behind that in one?
  std::size_t longest_ = 0;
};

struct Machine {
  /// `ends`: texts that end the reply besides the format's (ReplyOptions::ends).
  explicit Machine(const ReplyFormat& format, const std::vector<std::string>& ends = {});
  static constexpr std::size_t kNone = Form::kNone;
  /// Whether one of `ends` would change the machine of the format.
  static bool is_changed_by(const ReplyFormat& format, const std::vector<std::string>& ends);

  /// The form that a turn with this header begins, or kNone.
  std::size_t form_of_header(std::string_view header) const;
  const ReplyTurn* assistant() const { return assistant_turn == kNone ? nullptr : &format.turns[assistant_turn]; }
  /// Whether calls are looked for inside reasoning, after this prompt.
  bool has_calls_in_reasoning(std::string_view prompt, bool begins_in_reasoning) const;

  ReplyFormat format;
  std::size_t assistant_turn = kNone;
  bool has_initial = false;
  LastTexts last;
  MarkerTrie content;
  MarkerTrie behind_calls;     ///< content, and what closes calls: once more it is none of the answer
  MarkerTrie reasoning;        ///< in which what begins a call is text
  MarkerTrie calls_reasoning;  ///< in which it begins a call
  MarkerTrie turns;            ///< text of other roles
  std::vector<Form> forms;

 private:
  void add_reasoning();
  void add_forms();
};

}  // namespace parlance::reply
