// Machine: a ReplyFormat made ready to read with: the markers that count in each place of a reply, as tries.
//
// Shared by all copies of a parser and never changed. Begin reading at Machine's members.
#pragma once
#include <memory>
#include <vector>

#include "parlance/reply.h"
#include "reply/marker_trie.h"

namespace parlance::reply {

/// What counts in and around calls of one form.
struct FormTries {
  MarkerTrie open;    ///< header forms: what must follow the header
  MarkerTrie close;   ///< behind a call, white space aside
  MarkerTrie code;    ///< in a program: what ends it
  MarkerTrie broken;  ///< in a call that went wrong: what ends that
};

/// A form of calls in the shapes that are read so far: an object or a list of them, or a call that a header names.
struct ShapedForm {
  explicit ShapedForm(const CallForm& form);
  ReplyMarker open{}, close{};
  CallLayout layout = CallLayout::single;
  bool commas_optional = false;
  bool headed = false;
  std::string header{};
  std::vector<std::string> name_members{}, argument_members{}, id_members{};
  CallArguments::Codec arguments = CallArguments::Codec::json;
  std::string callee{}, code_argument{};
};

struct Machine {
  Machine(const ReplyFormat& format, const ReplyLimits& limits);
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// The form that a turn with this header begins, or kNone.
  std::size_t form_of_header(std::string_view header) const;
  const ReplyTurn* assistant() const { return assistant_turn == kNone ? nullptr : &format.turns[assistant_turn]; }

  ReplyFormat format;
  std::vector<ShapedForm> shaped;
  ReplyLimits limits;
  std::size_t assistant_turn = kNone;
  MarkerTrie content;
  MarkerTrie reasoning;
  MarkerTrie turns;  ///< text of other roles
  std::vector<FormTries> forms;
};

}  // namespace parlance::reply
