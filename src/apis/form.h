// What the forms of all APIs share: ids, diagnostics, blocks. A form is a class of its own and a row in reply_api.cpp.
//
// Begin reading at Form.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/inside.h"
#include "json/writer.h"
#include "parlance/reply_api.h"
#include "reply/custom_input.h"

namespace parlance {

namespace apis {

/// The logprobs of tokens, until the events come that have their bytes: which token is of which text is known by then.
class WaitingLogprobs {
 public:
  void add(std::span<const ReplyLogprob> tokens);
  /// Those of the tokens that begin in this event or before it, as items of a list.
  std::string take(const ReplyEvent& event);
  /// Drops those that end in this event or before it.
  void skip(const ReplyEvent& event);
  /// What is left, at the end.
  std::string rest();
  std::size_t size() const { return items_.size(); }

 private:
  struct Item {
    std::string json;
    std::size_t bytes = 0;  ///< those that no event had yet
  };
  std::size_t unpaid(const ReplyEvent& event);

  std::deque<Item> items_;
  std::size_t taken_ = 0;  ///< bytes of tokens that were taken, and that no event had yet
};

}  // namespace apis

/// The form of one API: takes events, says those of the API, and has the whole.
class ReplyApiWriter::Form {
 public:
  /// `default_id`: of the answer where none is given; `call_prefix`: of ids of calls.
  Form(ReplyApi api, ReplyApiOptions options, std::string default_id, std::string_view call_prefix);
  virtual ~Form() = default;
  Form(const Form&) = delete;
  Form& operator=(const Form&) = delete;

  void listen(const ReplyApiSink& sink) { sink_ = sink ? &sink : nullptr; }
  void begin();
  void add(const ReplyEvent& event);
  virtual void add_logprobs(std::span<const ReplyLogprob>) {}
  virtual void add_tokens(std::span<const std::int32_t>) {}
  void finish(const ReplyOutcome& outcome);
  void fail(const ReplyApiError& error);
  std::string to_json() const { return error_ ? failed_json() : whole_json(); }
  /// The whole with these choices, each choice_json() of a form. Of an API without choices: the whole.
  virtual std::string with_choices(std::string_view, const std::optional<ReplyUsage>&) const { return whole_json(); }
  virtual std::string choice_json() const { return {}; }
  bool has_failed() const { return error_.has_value(); }

 protected:
  /// Says the first events.
  virtual void begin_stream() = 0;
  /// Is told of each event before it is taken.
  virtual void take_logprobs_of(const ReplyEvent&) {}
  /// In its place, for an event that is not taken.
  virtual void skip_logprobs_of(const ReplyEvent& event) { take_logprobs_of(event); }
  virtual void take(const ReplyEvent& event) = 0;
  virtual void end() = 0;
  /// Says the events of an error.
  virtual void break_off() { say({}, failed_json()); }
  virtual std::string whole_json() const = 0;
  virtual std::string failed_json() const { return reply_error_json(api_, *error_); }

  /// Whether anybody hears of events; else they need not be made.
  bool listens() const { return sink_ != nullptr; }
  void say(std::string_view name, std::string_view data) const {
    if (sink_ != nullptr) (*sink_)({name, data});
  }
  std::string make_call_id();
  /// "stop", "length", "tool_calls". A stop text may end reasoning, but a call that it cuts off is cut off.
  std::string_view finish_reason() const;
  /// reply_diagnostics, where there are any.
  void append_diagnostics(Json& json) const;

  const ReplyApiOptions& options() const { return options_; }
  const ReplyOutcome& outcome() const { return outcome_; }
  const ReplyApiError& error() const { return *error_; }

 private:
  ReplyApi api_;
  ReplyApiOptions options_;
  std::string call_prefix_;
  std::uint32_t made_ids_ = 0;
  ReplyOutcome outcome_;
  std::optional<ReplyApiError> error_;
  ReplyFinish finish_;
  /// The event as the content that it becomes where reasoning is shown as text.
  ReplyEvent as_text(const ReplyEvent& event);

  bool calls_ = false;
  std::string mark_, opening_;             ///< as_text(): marks that reasoning may follow; they and its first piece
  bool reasons_ = false, closes_ = false;  ///< the event before was reasoning, or the mark that ends it
  bool has_begun_ = false;
  bool has_ended_ = false;
  std::vector<ReplyDiagnostic> diagnostics_;
  const ReplyApiSink* sink_ = nullptr;
};

namespace apis {

using Form = Inside<ReplyApiWriter>::Type;

/// One thing that a reply consists of, in the reply's order.
struct Block {
  enum class Kind : std::uint8_t { reasoning, text, call };
  Kind kind = Kind::text;
  bool custom = false;    ///< a call of a custom tool
  bool turned = false;    ///< the first text of another turn
  bool complete = false;  ///< a call's arguments are whole; a text or reasoning is not what the reply's end cut off
  std::string text{};     ///< or a call's arguments
  std::string name{};
  std::string id{};       ///< as said when the call began
  std::string late_id{};  ///< another that the wire had behind it
  reply::CustomInput reader{};
  std::string input{};      ///< of a custom tool
  std::string signature{};  ///< of reasoning

  std::string_view best_id() const { return late_id.empty() ? id : late_id; }
};

/// What a block has become longer by.
struct Growth {
  std::string_view text;
  std::string_view input{};  ///< of a custom tool's call
  bool broken = false;       ///< it is no JSON any more
};

/// A form that is a list of blocks. Reasoning that is nothing but white space is none.
class BlockForm : public Form {
 public:
  using Form::Form;

 protected:
  void take(const ReplyEvent& event) final;
  void end() final;
  void break_off() final;
  /// A block has begun, has become longer by `piece`, or is what it will be. `piece` is of its text, and `input` what a
  /// custom tool's call is longer by.
  virtual void opened(const Block& block) = 0;
  virtual void grown(const Block& block, const Growth& growth) = 0;
  virtual void closed(const Block& block) = 0;
  virtual void ended() = 0;
  /// The error has ended the reply; the block that was open is not complete.
  virtual void broken_off() = 0;
  const std::vector<Block>& blocks() const { return blocks_; }
  std::size_t last() const { return blocks_.size() - 1; }

 private:
  bool is_open(Block::Kind kind) const { return open_ && blocks_.back().kind == kind; }
  void open(Block block);
  void close(bool complete);
  void add_text(Block::Kind kind, std::string_view text, bool turned = false);
  void add_reasoning(std::string_view text);
  void add_arguments(std::string_view json, bool broken);
  void end_call(const ReplyEvent& event);

  std::vector<Block> blocks_;
  std::string blanks_;  ///< of reasoning that has nothing else yet
  bool reasons_ = false;
  bool open_ = false;
  bool turned_ = false;  ///< a turn has begun: its text is a block of its own
};

std::unique_ptr<Form> make_chat_completion(ReplyApiOptions options, std::string default_id);
std::unique_ptr<Form> make_message(ReplyApiOptions options, std::string default_id);
std::unique_ptr<Form> make_response(ReplyApiOptions options, std::string default_id);
std::unique_ptr<Form> make_ollama(ReplyApiOptions options, std::string default_id);

/// Whether a call of the reply is not whole.
bool has_cut_call(const std::vector<Block>& blocks);
/// The input of a call that is not complete, as an object: {"INVALID_JSON": TEXT}.
std::string invalid_input(const Block& block);
/// An item of OpenAI's logprobs.
std::string logprob_item(const ReplyLogprob& token);
/// Appends items of a list, with a comma between.
void append_items(std::string& items, std::string_view more);

}  // namespace apis
}  // namespace parlance
