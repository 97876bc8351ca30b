// Conversation's inside: the request's document, what normalisation and the builder made beside it,
// and the way from an address (or an origin id) in any of that memory to the message it belongs to.
//
// Leans on Document for the request itself. Everything made later lies in `arena`, in regions that
// know their message. Begin reading at Conversation::State.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/fork_lock.h"
#include "base/inline_vector.h"
#include "base/inside.h"
#include "json/document.h"
#include "json/repeats.h"
#include "parlance/conversation.h"

namespace parlance {

/// Text of the conversation that is not in the document (a message that was added, a variable that
/// was set), or text of the document that was read as JSON. Values that were read from it have the
/// origin id `origin`, or one of those between it and the next region's (read_json_numbered).
struct TextRegion {
  const char* begin;
  std::size_t size;
  std::uint32_t origin;
  std::int32_t message;  ///< its number among all messages; -1: a variable
  bool in_document;
};

/// One change that a pass made; a line of notes() once somebody asks.
struct Change {
  Pass pass{};
  std::int32_t message = -1;  ///< messages[message], or
  std::int32_t tool = -1;     ///< tools[tool], or
  std::string_view variable;  ///< the variable itself
  std::int32_t call = -1;     ///< .tool_calls[call] of the message
  std::string_view member;    ///< .member of all that; may be empty
  std::string_view what{};    ///< what became of it, where the pass does not always do the same
  /// What kind of thing the template is not given, as Loss::subject has it: "part"; "": it loses nothing
  std::string_view loses{};
  bool by_design = false;  ///< what it loses says nothing: the pass is there to leave it out
};

struct Conversation::State {
  static constexpr std::size_t kFirstChunk = std::size_t{2} << 10;  ///< conversations are many, and most add little
  Document document;
  Arena arena{kFirstChunk};
  Value variables;  ///< a dict
  Value messages;   ///< its member `messages`, or undefined
  std::uint32_t next_origin = 1;
  Value* added_items = nullptr;           ///< items of `messages` once one was added, with room for
  std::uint32_t added_capacity = 0;       ///< this many
  std::int32_t put_before = 0;            ///< how many of `messages` are a model's own, before the request's
  std::vector<TextRegion> regions;        ///< as they were made, so by origin
  std::vector<std::uint32_t> by_address;  ///< numbers of regions outside the document, by address
  bool as_transformers = false;           ///< it was read by ReadOptions::as_transformers,
  bool continue_final = false;            ///< which takes this wish of the request away from the variables
  std::vector<Change> changes;
  Passes passes;  ///< that it was read with: names and values of their settings are the conversation's
  SentTo sent_to = SentTo::unsaid;
  bool recognised = false;  ///< it was looked whether the request is another API's (api_request.h)
  Value converted;          ///< the variables as that was converted, before the passes; undefined if it was none
  bool has_model = false;   ///< it was given what a model's files bring along (add_model)
  std::vector<std::string> of_model;  ///< variables that it was given so, but those that are named as tokens are
  /// A list of the request that a variable from outside stands in for.
  struct Replaced {
    std::string_view subject;  ///< as Loss::subject has it
    std::string path;
  };
  std::vector<Replaced> replaced;
  /// variables that already were as the effort of reasoning wants them: not noted
  std::vector<Change> kept_for_effort;
  std::vector<RepeatedMember> repeated;  ///< of JSON texts in the request or beside it (json_text.h)
  mutable OuterBriefMutex notes_mutex;
  mutable std::vector<std::string> notes;  ///< lines of the first changes; made when asked for

  void clear();
  /// Sets a variable, replacing an earlier one; `key` must live as long as the conversation.
  void set_variable(Value key, Value value);
  /// Makes `messages` one longer.
  void append_message(Value message);
  /// Notes a region of text and gives it the next origin id.
  std::uint32_t add_region(std::string_view text, std::int32_t message, bool in_document);
  /// To be called after a change: finds the messages, sorts the log of derived text.
  void settle();
};

using ConversationState = Inside<Conversation>::Type;

/// The message (-1: none) that a byte or an origin id of the conversation belongs to; false if it
/// is not of the conversation.
bool find_place(const ConversationState& state, const char* address, std::int32_t& message);
bool find_place(const ConversationState& state, std::uint32_t origin, std::int32_t& message);
/// "messages[3].content"; "" for what is not of the conversation.
std::string path_of_address(const ConversationState& state, const char* address);
std::string path_of_id(const ConversationState& state, std::uint32_t origin);
/// The same for a value, a text or anything else.
std::string path_of_value(const ConversationState& state, Value value);
/// The texts of the variables whose names end in _token. Found by the first question, so it must not outlive a change.
class SpecialTokenTexts {
 public:
  explicit SpecialTokenTexts(const ConversationState& state) : state_(state) {}
  /// Does the address lie in one of them?
  bool cover(const char* address);

 private:
  const ConversationState& state_;
  bool found_ = false;
  static constexpr std::size_t kFew = 8;  ///< what need not be sorted
  InlineVector<std::string_view, kFew> by_address_;
};
/// Takes the messages from number `count` on out again.
void keep_messages(ConversationState& state, std::uint32_t count);
/// Removes a variable and returns it; undefined if there is none. Its value stays alive.
Value take_variable(ConversationState& state, std::string_view name);

}  // namespace parlance
