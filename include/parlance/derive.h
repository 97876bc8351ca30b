// Derives, by experiment, how a template's model writes its replies and what the template supports.
//
//     auto derived = parlance::derive(*chat_template);
//     if (!derived) return report(derived.error());
//     if (derived->verdict == parlance::Verdict::none) return report(derived->missing);
//     auto parser = parlance::ReplyParser::make(derived->format);
//     if (!parser) return report(parser.error());
//
// derive() renders sixty to two hundred small conversations and compares the prompts, with the origin of each byte. It
// never consults a model's name; words of the template's text only suggest what to try. A format is called verified
// only after it has read back every turn that the experiments rendered, and every reply that the prompts opened.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/passes.h"
#include "parlance/reply_format.h"
#include "parlance/result.h"
#include "parlance/template.h"

namespace parlance {

/// How reliable the derived format is.
enum class Verdict : std::uint8_t {
  none,      ///< no assistant turn could be rendered, so replies are read as plain text; `missing` says why
  partial,   ///< something was not found, or contradicts the format; `missing` says what
  verified,  ///< the format reads back everything the template shows, and knows everything its prompts open
};
std::string_view name_of(Verdict verdict);

/// A field of the format, and the experiment that showed it.
struct DerivedField {
  std::string field;       ///< "calls[0].call"
  std::string experiment;  ///< "two calls beside one"
  std::string shown;       ///< the bytes that showed it, shortened
};

/// An experiment that the format was checked against.
struct TriedExperiment {
  std::string kind;  ///< "answers", "reasoning", "calls", "settings" (turns under a setting), "prompt ends", "cuts"
  std::string name;  ///< "a text with quotes", "enable_thinking = true: a call"
};

/// The end of the prompt if a variable that switches reasoning has a certain value.
struct ThinkingStart {
  std::string variable;  ///< "enable_thinking"
  std::string value;     ///< as JSON: "true"
  std::string prompt;    ///< as ReplyFormat::prompt
  bool in_reasoning = false;
};

/// The forms in which a role's content reaches the prompt: as a string (`text`), as a list of one text part (`parts`).
/// `alike`: both give the same bytes.
struct ContentShape {
  std::string role;
  bool text = false;
  bool parts = false;
  bool alike = false;
};

/// Which call ids a template accepts.
enum class CallIds : std::uint8_t {
  free,   ///< any id, or the template ignores ids
  nine,   ///< nine letters and digits; the template raises an error for others
  named,  ///< the template shows a tool's name only as part of the id: functions.NAME:0
};
std::string_view name_of(CallIds ids);

/// What a template does with messages of a role, or with messages in some order.
enum class MessageFate : std::uint8_t {
  untried,
  renders,
  dropped,  ///< a text is missing from the prompt, in every form of content
  raises,
};
std::string_view name_of(MessageFate fate);

struct RoleFate {
  std::string role;
  MessageFate fate = MessageFate::untried;
};

/// An order of messages that some templates do not accept.
enum class MessageOrder : std::uint8_t {
  system,     ///< a system message comes first
  developer,  ///< a developer message comes first
  systems_in_a_row,
  developer_behind_system,
  system_and_later_system,
  later_system,
  later_developer,
  users_in_a_row,
};
inline constexpr std::size_t kMessageOrders = 8;
/// "system", "developer", "systems in a row", …
std::string_view name_of(MessageOrder order);

/// What a template supports, found by rendering. An empty string means that no experiment rendered.
struct TemplateCapabilities {
  /// A tool message is tried after the call that it answers, any other as the first message.
  std::vector<RoleFate> roles;
  /// What the template does with each order of messages, by MessageOrder; see fate().
  std::array<MessageFate, kMessageOrders> orders{};
  std::vector<ContentShape> contents;  ///< by role, if the template shows any form
  std::vector<MediaShape> media;       ///< images, audio and video by role
  bool text_content = false;           ///< the prompt shows content that is a string
  bool parts_content = false;          ///< … content that is a list of text parts
  bool tools = false;                  ///< … the request's tools
  bool calls = false;                  ///< … calls of the history
  bool parallel_calls = false;         ///< … two calls of one message
  bool content_with_calls = false;     ///< … content beside calls
  bool calls_behind_content = true;    ///< a reader can distinguish a call from the content before it
  bool object_arguments = false;       ///< the prompt shows arguments given as an object, unchanged
  bool text_arguments = false;         ///< … arguments given as a JSON string, unchanged
  bool escapes_text = true;            ///< quotes and newlines inside string arguments are escaped or unambiguous
  bool text_arguments_needed = false;  ///< arguments as an object raise, are dropped, or are printed as a Python dict
  CallIds call_ids = CallIds::free;
  bool call_ids_shown = false;
  bool call_ids_needed = false;        ///< a call without an id raises an error
  bool absent_content_needed = false;  ///< the prompt shows a call only if its message has no member `content`
  bool null_content_needed = false;    ///< … only if its message's content is null
  bool reasoning_with_text = false;    ///< the prompt shows reasoning of the last turn, beside content
  bool reasoning_with_calls = false;
  bool reasoning_with_last_calls = false;  ///< … also while the calls have no results yet
  bool reasoning_in_history = false;       ///< … reasoning of turns before the last user message
  /// The member that carries reasoning: "reasoning_content"; "content[].type=thinking" for a content part of that type.
  std::string reasoning_key;
  std::string reasoning_member;             ///< the same, also set if the template writes no markers around reasoning
  bool reasoning_excludes_content = false;  ///< beside calls, the template shows either of the two, and raises for both
  bool reasoning_names_alike = true;        ///< `reasoning_content`, `reasoning` and `thinking` give the same prompt
  bool empty_tools_needed = false;          ///< without tools it raises, and with an empty list of them it does not
  std::vector<EffortSetting> efforts;       ///< by effort, from none to max; empty: the template has no such setting

  MessageFate fate(MessageOrder order) const { return orders[static_cast<std::size_t>(order)]; }
};

/// Chooses the normalisation passes that a template needs to show everything in a request. With them, two spellings of
/// the same history give the same prompt:
///
/// * arguments as an object or as a JSON string;
/// * content as a string or as one text part; empty, null or missing content beside calls;
/// * reasoning under any of its names, and a reasoning effort in the words of any API;
/// * a developer message or a system message; call ids that the template would refuse;
/// * no tools or an empty list of them.
///
/// It adds a pass only if the template does not accept both spellings. It changes only `options.passes`: passes that
/// are skipped there are still skipped, and with ReadOptions::normalise = false no pass runs. Conversation::notes()
/// lists what the passes changed.
///
///     const ReadOptions reading = parlance::adapt(derived->capabilities);
///     auto chat = parlance::Conversation::from_json(request, reading);
ReadOptions adapt(const TemplateCapabilities& can, ReadOptions options = {});

/// What derive() found.
struct DerivedFormat {
  ReplyFormat format;
  Verdict verdict = Verdict::none;
  std::vector<std::string> missing;  ///< why the verdict is not `verified`, as sentences
  /// If no answer could be rendered: the first limit (limit_*) that an experiment reached. With higher limits there may
  /// be a format.
  std::optional<Error> limit;
  std::vector<std::string> notes;  ///< what a template loses, as sentences
  std::vector<DerivedField> evidence;
  std::vector<TriedExperiment> tried;  ///< the checks of the format; `verified` means that all succeeded
  std::vector<ThinkingStart> starts;
  TemplateCapabilities capabilities;
  std::size_t renders = 0;  ///< number of experiments
  /// Everything as a JSON object; ReplyFormat::from_json reads its `format`.
  std::string to_json() const;
};

/// What derive() may use besides the template.
///
///     field           default  effect
///     format          none     the reply format, if it is known: derive() tests it and derives none
///     response_template  ""  the model's own, as JSON (ModelSource). It replaces the derived format if it is verified,
///                            or if the derived one is not. If the two differ, or it is broken, notes say so
///     special_tokens  none     variables of the model, name and text: bos_token, eos_token, …
///     variables       none     other variables of requests, name and JSON, as in chat_template_kwargs
///     limits          see Limits  all experiments share the steps. Each gets at most 1/64 of the steps and of the
///                                 memory, and a prompt of at most 1 MiB. derive() stops once it keeps 16 MiB of them
struct DeriveOptions {
  std::optional<ReplyFormat> format{};
  std::string response_template{};
  std::vector<std::pair<std::string, std::string>> special_tokens{};
  std::vector<std::pair<std::string, std::string>> variables{};
  Limits limits{};
};

/// Derives how a template's model writes replies. Takes some milliseconds; keep the result.
///
/// If a template raises in every experiment, or always reaches a limit, the verdict is `none`; that is not a failure.
/// Fails with value (path of the field) if validate() refuses DeriveOptions::format; else with value or json only if
/// parlance's own data/quirks are broken.   Threads: any.
Result<DerivedFormat> derive(const Template& chat_template, const DeriveOptions& options = {});

}  // namespace parlance
