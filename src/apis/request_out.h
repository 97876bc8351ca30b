// A request that is being written for one API: what the writers of all APIs share. Begin reading at RequestOut; the
// table of writers is in request_api.cpp.
//
// A writer reads the request as OpenAI's chat has it, whatever it came as, and says what it cannot say there.
#pragma once
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/request_words.h"
#include "conversation/api_request.h"
#include "parlance/request_api.h"

namespace parlance::apis {

using api::is_given;
using api::is_one_of;
using api::quoted;
using api::word;

class RequestOut {
 public:
  RequestOut(ConversationState& state, Runtime& rt, std::string_view api, Words from, Words to);

  // ---- what is read

  /// A member of the request as OpenAI's chat has it, which the writer looks after; undefined where it is not there or
  /// null.
  Value take(std::string_view name);
  /// The same for a member of a member.
  Value take_inner(std::string_view outer, std::string_view inner);
  /// The messages, one after the other; `where` is of the one in hand.
  std::span<const Value> messages() const;
  void at_message(std::size_t number);
  void at(std::string_view where) { where_ = where; }
  Value variables() const { return state_.variables; }
  Words from() const { return from_; }
  /// How much reasoning is asked for, in whatever words; undefined where it is not said.
  Value take_effort();
  /// `response_format`, or Ollama's `format` as such.
  Value take_format();

  /// Paths that are set over what is written: what the request says of them is not written, and no loss.
  void overrule(const std::vector<std::string>& paths) {
    overruled_.insert(overruled_.end(), paths.begin(), paths.end());
  }
  /// Whether the path or what it is a member of is set over what is written.
  bool is_overruled(std::string_view path) const;

  // ---- what is written

  /// {name: value, …} without members that are undefined.
  Value object(std::initializer_list<std::pair<std::string_view, Value>> members);
  Value list(const std::vector<Value>& items) { return copy_list(rt_, items); }
  /// A text that is made: an id.
  Value made(const std::string& text) { return Value::view(state_.arena.copy_text(text)); }
  /// The content of a message: a text, or a list that is not empty.
  Value content_of(Value message);
  /// Content of these parts as they are written: of nothing but one text, that text.
  Value content_from(const std::vector<Value>& parts);
  /// The JSON text of a value; a text stays as it is.
  Value as_text(Value v);
  /// A member of what is written; "a.b" is a member of a member. The first counts.
  void set(std::string_view path, Value value);
  /// The members that steer, in the API's words, and notes of all members that nobody looked after.
  Value finish();

  // ---- what cannot be written

  /// The request cannot be written; the first failure counts. `at` is a value of the request.
  void fail(Value at, std::string message, std::string hint = {});
  void note(RequestNote::Kind kind, Value at, std::string sentence);
  void note_at(RequestNote::Kind kind, std::string path, std::string sentence) {
    notes.push_back({kind, std::move(path), std::move(sentence)});
  }
  /// A note for each text that the conversion joined to this.
  void lose(Value at, const std::string& sentence);
  /// Notes what stands in a dict besides `taken` and says something.
  void leave(Value dict, std::initializer_list<std::string_view> taken);
  /// The calls of a message, which are noted where they are no list.
  std::span<const Value> calls_of(Value message);
  /// Notes reasoning that is no text, or another than the one that is written.
  void leave_reasoning(Value message);
  /// Notes what only messages of another role may have: calls, reasoning and a refusal are an assistant's.
  void leave_to_others(Value message);
  /// A member that is a text; a failure where it is none.
  Value needed(Value dict, std::string_view name);
  std::string no_such() const { return std::string(api_) + " has no such member: left out"; }
  /// no_such() for a member of the request itself, whose name may mean something else there.
  std::string no_such(std::string_view name) const;
  std::string_view api() const { return api_; }
  Runtime& rt() { return rt_; }
  bool failed() const { return failure.has_value(); }

  std::vector<RequestNote> notes;
  std::optional<Error> failure;

 private:
  std::string path_of(Value v) const;
  Value find(std::string_view path, std::string& found) const;
  Value fitted(std::string_view goal, Value value);
  Value image_part(Value data);
  Value with_images(Value message, Value images);
  bool is_of_goal(std::string_view name) const;
  void stray_system();
  void pass_on(std::string_view path, const DictEntry& entry);
  bool is_taken(std::string_view path) const;
  /// Is a member of it?
  bool is_taken_in_part(std::string_view path) const;
  void settings();
  void leftover();

  ConversationState& state_;
  Runtime& rt_;
  std::string_view api_;
  Words from_, to_;
  std::string where_;
  std::vector<std::string> overruled_;
  /// paths of what is looked after; from the beginning the line's id, and what old-functions gives as tools
  std::vector<std::string> taken_;
  std::vector<DictEntry> members_;
  std::vector<std::pair<std::string_view, std::vector<DictEntry>>> nested_;
};

/// The names that calls have, which their results need not say again where an API has no place for it.
class CalledNames {
 public:
  void add(Value call, Value function);
  /// Notes the name of a message that is not written: it is lost unless the call that the message answers has it.
  void leave_name(RequestOut& out, Value message, std::string why) const;

 private:
  bool is_of_call(Value message) const;
  std::map<std::string, std::string_view, std::less<>> names_;  ///< by id
};

/// Whether a value says something: not null, false, 0, nor empty.
bool says_something(Value v);
/// A data: address as its MIME type and its data in base64; undefined where it is none.
std::pair<Value, Value> split_data_url(Runtime& rt, Value url);
/// Whether it is a data: address, be it in base64 or not.
bool is_data_url(Runtime& rt, Value url);

/// The writers of each API.
void write_chat_request(RequestOut& out);
void write_messages_request(RequestOut& out);
void write_responses_request(RequestOut& out);

}  // namespace parlance::apis
