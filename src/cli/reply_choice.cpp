// Finding how replies are written, and where one begins. Begin reading at open_reply_source and start_of_request.
#include "cli/reply_choice.h"

#include <algorithm>
#include <optional>
#include <random>

#include "cli/derive_choice.h"
#include "cli/input.h"
#include "cli/report.h"
#include "conversation/conversation.h"
#include "conversation/edit.h"
#include "conversation/passes_for_templates.h"
#include "parlance/json.h"
#include "parlance/reply_prompt.h"
#include "parlance/response_template.h"
#include "parlance/source.h"
#include "value/dict.h"
#include "value/json.h"

namespace parlance::cli {
namespace {

/// A ReplyFormat, or transformers' response_template: that has `fields`, which the other has not.
Result<ReplyFormat> given_format(const std::string& text, const std::string& name) {
  Document document;
  const bool read = static_cast<bool>(document.parse(text, name));
  if (!read || document.root().kind != Kind::dict || member(document.root(), "fields") == nullptr) return ReplyFormat::from_json(text, name);
  Result<ReadResponseTemplate> found = read_response_template(text, name);
  if (!found) return found.error();
  for (const std::string& note : found->notes) say_note(note);
  return std::move(found->format);
}

/// What stands in a file is wrong input, whatever the reader of its kind calls it.
Error of_input(const Error& error, const std::string& path) {
  if (error.code() != ErrorCode::value) return error;
  Error::Parts parts = error.parts();
  parts.code = ErrorCode::conversation;
  if (parts.where.name.empty()) parts.message = path + ": " + parts.message;
  return Error(std::move(parts));
}

/// What is said of replies without a look at the template.
Result<ReplyFormat> known_format(const ReplyWish& wish) {
  if (!wish.reply_format.empty()) {
    Result<std::string> text = read_input(wish.reply_format, "the format of replies");
    if (!text) return text.error();
    Result<ReplyFormat> format = given_format(*text, wish.reply_format);
    return format ? format : Result<ReplyFormat>(of_input(format.error(), wish.reply_format));
  }
  const TemplateWish& chosen = wish.prompt.wish;
  if (chosen.format.empty()) return usage("whose reply? give -t TEMPLATE, -m MODEL or -f FORMAT", "parlance list formats shows them");
  const BuiltinFormat* builtin = find_format(chosen.format);
  if (builtin == nullptr) return no_format(chosen.format);
  return ReplyFormat::from_json(builtin->reply, std::string(builtin->name) + ".reply.json");
}

/// Whether tools are handed over under another name than the usual one.
bool has_other_tools(const Conversation& conversation) {
  constexpr std::string_view kNames[] = {"functions", "builtin_tools", "custom_tools", "xml_tools", "python_tools"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view name) { return member(conversation.variables(), name) != nullptr; });
}

/// The tools of a request: its custom tools as it declares them, since templates know them as functions.
Value declared_tools(Runtime& rt, const Conversation& conversation, Value tools) {
  const Value* given = member(conversation.state().document.root(), "tools");
  if (given == nullptr || !given->is_sequence() || items(*given).size() != items(tools).size()) return tools;
  const std::vector<Change>& changes = conversation.state().changes;
  std::vector<Value> declared(items(tools).begin(), items(tools).end());
  for (const Change& change : changes) {
    const bool custom = change.tool >= 0 && normalise_passes()[change.pass].name == "custom-tools";
    if (custom) declared[static_cast<std::size_t>(change.tool)] = items(*given)[static_cast<std::size_t>(change.tool)];
  }
  ListBuilder list(rt, static_cast<std::uint32_t>(declared.size()));
  for (const Value tool : declared) list.append(tool);
  return list.finish();
}

/// A request without tools has none, so that an answer in JSON is no call.
Result<ReplyTools> tools_of(const Conversation& conversation) {
  const Value* tools = member(conversation.variables(), "tools");
  if (tools == nullptr || !tools->is_sequence()) return has_other_tools(conversation) ? ReplyTools() : ReplyTools::from_json("[]", "tools");
  Arena arena;
  const Limits limits;
  Runtime rt(arena, limits);
  std::string json;
  if (!append_json(rt, json, declared_tools(rt, conversation, *tools))) {
    Error::Parts parts;
    parts.code = ErrorCode::value;
    parts.message = "the tools cannot be written as JSON";
    parts.input_path = "tools";
    parts.hint = "what nests deeper than " + std::to_string(limits.depth) + " levels cannot";
    return Error(std::move(parts));
  }
  return ReplyTools::from_json(json, "tools");
}

constexpr std::string_view kTokens[] = {"bos_token", "eos_token", "unk_token", "pad_token"};

/// Where a reply begins does not depend on special tokens that nobody told, nor on what the sandbox refuses.
Result<std::string> prompt_of(const ReplySource& source, const ReplyFormat& format, const ReplyWish& wish, Conversation& conversation) {
  const Result<Template> compiled = compile_chosen(source.setup->found, wish.prompt.wish, has_tools(conversation));
  if (!compiled) return compiled.error();
  Result<std::string> prompt = reply_prompt(*compiled, conversation, source.setup->render, format);
  if (prompt || (prompt.error().code() != ErrorCode::undefined && prompt.error().code() != ErrorCode::security)) return prompt;
  for (const std::string_view name : kTokens) conversation.set_default_string(name, "");
  const Result<Template> changing = compiled->with_changes();
  Result<std::string> again = changing ? reply_prompt(*changing, conversation, source.setup->render, format) : prompt;
  return again ? again : prompt;
}

std::string_view text_of(const Value* message, std::string_view key) {
  const Value* found = message == nullptr ? nullptr : member(*message, key);
  return found != nullptr && found->is_leaf() && found->is_string() ? leaf_text(*found) : std::string_view();
}

/// Where the reply begins that goes on with the last message, which its template does not render: in the answer or in reasoning.
/// Nothing where the format has no reasoning to tell apart.
std::optional<std::string> continued_prompt(const ReplyFormat& format, const Conversation& conversation) {
  const Value messages = conversation.messages();
  if (!messages.is_sequence() || messages.list->size == 0 || !format.reasoning_open.exists() || !format.reasoning_close.exists()) return std::nullopt;
  const Value* last = &messages.list->items[messages.list->size - 1];
  const bool answers = text_of(last, "content").find_first_not_of(" \t\r\n") != std::string_view::npos;
  const std::string& open = format.reasoning_open.texts.front();
  const std::string& close = format.reasoning_close.texts.front();
  std::string prompt = format.prompt;
  const std::size_t opened = prompt.rfind(open), closed = prompt.rfind(close);
  const bool inside = opened != prompt.npos && (closed == prompt.npos || closed < opened);
  if (answers) return inside ? prompt + close : prompt;
  for (const std::string_view key : {"reasoning_content", "reasoning", "thinking"}) {
    const std::string_view reasoning = text_of(last, key);
    if (reasoning.empty()) continue;
    if (!inside) prompt = prompt.substr(0, opened) + open;
    return prompt.append(format.reasoning_open.after).append(reasoning);
  }
  return std::nullopt;
}

/// The end-of-sequence token that the request or the model tells.
std::vector<std::string> ends_of(const Conversation& conversation) {
  const Value* token = member(conversation.variables(), "eos_token");
  if (token == nullptr || !token->is_leaf() || leaf_text(*token).empty()) return {};
  return {std::string(leaf_text(*token))};
}

}  // namespace

Result<ReplySource> open_reply_source(ReplyWish& wish) {
  auto setup = std::make_unique<PromptSetup>();
  if (Result<void> prepared = prepare(wish.prompt, false, *setup); !prepared) return prepared.error();
  ReplySource source{nullptr, nullptr, std::move(setup), {}};
  const TemplateWish& chosen = wish.prompt.wish;
  if (wish.reply_format.empty() && (!chosen.file.empty() || !chosen.model.empty())) {
    PromptOptions options = wish.prompt;
    Result<std::unique_ptr<DerivedFormats>> derived = open_derived_formats(options);
    if (!derived) return derived.error();
    source.derived = std::move(*derived);
  } else {
    Result<ReplyFormat> format = known_format(wish);
    if (!format) return format.error();
    source.known = std::make_shared<const ReplyFormat>(std::move(*format));
  }
  if (wish.tools.empty()) return source;
  const Result<std::string> text = read_input(wish.tools, "the tools");
  if (!text) return text.error();
  Result<ReplyTools> tools = ReplyTools::from_json(*text, wish.tools);
  if (!tools) return tools.error();
  source.tools = std::move(*tools);
  return source;
}

Result<std::shared_ptr<const ReplyFormat>> ReplySource::format_for(Value request) const { return derived ? derived->format_for(request) : known; }

Result<ReplyStart> usual_start(const ReplySource& source, const ReplyWish& wish, Value request) {
  Result<std::shared_ptr<const ReplyFormat>> format = source.format_for(request);
  if (!format) return format.error();
  if (wish.begin_in_reasoning && !(*format)->reasoning_close.exists() && !(*format)->content_open.exists()) {
    return usage("--begin-in-reasoning: replies of this format have no reasoning", "parlance read --show-format shows how they are written");
  }
  ReplyStart start{std::move(*format), {.tools = source.tools}, {}};
  start.options.begin_in_reasoning = wish.begin_in_reasoning;
  start.options.no_calls_in_reasoning = wish.no_calls_in_reasoning;
  start.options.check_calls = true;
  return start;
}

Result<ReplyStart> start_of_request(const ReplySource& source, const ReplyWish& wish, std::string request, const std::string& name) {
  RequestOptions options = source.setup->request;
  Conversation conversation;
  Value id;
  if (Result<void> read = consume_request(conversation, std::move(request), name, options, id); !read) return read.error();
  Result<ReplyStart> begun = usual_start(source, wish, conversation.variables());
  if (!begun) return begun;
  ReplyStart start = std::move(*begun);
  if (!wish.prompt.effort.empty()) start.notes = passes::notes_of_effort(conversation);
  if (!source.tools.known()) {
    Result<ReplyTools> tools = tools_of(conversation);
    if (!tools) return tools.error();
    start.options.tools = std::move(*tools);
  }
  start.options.ends = ends_of(conversation);
  if (has_other_tools(conversation)) start.options.check_calls = false;  // which of them are called how, nobody knows
  if (!wish.prompt.wish.any()) return start;
  Result<std::string> prompt = prompt_of(source, *start.format, wish, conversation);
  if (prompt) {
    start.options.prompt = std::move(*prompt);
    return start;
  }
  if (prompt.error().code() == ErrorCode::conversation) start.options.prompt = continued_prompt(*start.format, conversation);
  const std::string_view from = start.options.prompt ? "as going on with its last message" : "from where its prompts usually end";
  start.notes.push_back("the template does not render this request (" + std::string(prompt.error().message()) + "), so the reply is read " +
                        std::string(from));
  return start;
}

std::function<std::string()> call_ids(const ReplyWish& wish) {
  if (wish.number_calls) return {};
  return [] {
    static thread_local std::mt19937_64 random(std::random_device{}() + (std::uint64_t{std::random_device{}()} << 32));
    constexpr char kDigits[] = "0123456789abcdef";
    std::string id = "call_";
    for (int i = 0; i < 24; ++i) id += kDigits[random() % 16];
    return id;
  };
}

}  // namespace parlance::cli
