// vLLM's render tier: a request becomes the ids and settings that an engine takes. Begin reading at render_prompt.
#include "parlance/json.h"
#include "parlance/reply_prompt.h"
#include "serve/fronts/apart.h"
#include "serve/fronts/chat_request.h"
#include "serve/fronts/engine_wire.h"
#include "serve/fronts/own_grammar.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/routes.h"
#include "serve/fronts/shapes/member_values.h"
#include "serve/fronts/shapes/message_shape.h"
#include "serve/fronts/shapes/tool_shape.h"
#include "serve/fronts/threads.h"
#include "serve/random_id.h"
#include "serve/turn/reply_begin.h"
#include "serve/turn/turn.h"

namespace parlance::serve {

namespace {

using Printed = std::optional<PrintedGrammar>;

/// What goes to the engine's sampler.
Result<SamplingSettings> read_engine_settings(const ServedModel& model, Value body) {
  Result<SamplingSettings> sampling = read_sampling(body);
  if (!sampling) return sampling;
  if (Result<void> checked = check_ids(model, *sampling); !checked) return checked.error();
  return sampling;
}

/// A request with its prompt.
struct Prepared {
  ChatRequest request;
  Rendering rendering;
  PromptTokens tokens;
};

/// The parts of a message that are no text need an engine's own preprocessing.
Result<void> check_texts(const Conversation& conversation) {
  constexpr std::string_view kOthers[] = {"image", "audio", "video", "file"};
  std::size_t number = 0;
  for (const Value& message : conversation.messages().items()) {
    std::size_t part_number = 0;
    for (const Value& part : message["content"].items()) {
      const std::string_view type = part["type"].text();
      for (const std::string_view other : kOthers) {
        if (type.find(other) == type.npos) continue;
        const std::string path =
            "messages[" + std::to_string(number) + "].content[" + std::to_string(part_number) + "]";
        return Error(ErrorCode::conversation,
                     "a part of type " + std::string(type) + " cannot be rendered to ids alone")
            .input(path);
      }
      ++part_number;
    }
    ++number;
  }
  return {};
}

ReplyApi reply_api_of(RenderedApi api) {
  if (api == RenderedApi::messages) return ReplyApi::anthropic;
  return api == RenderedApi::responses ? ReplyApi::responses : ReplyApi::openai;
}

Result<Prepared> prepare(const ServedModel& model, const RequestText& given, const RenderOptions& options,
                         bool want_offsets) {
  Prepared made;
  if (Result<void> checked = check_messages_shape(given.body, given.api); !checked) return checked.error();
  if (Result<void> checked = check_tools_shape(given.body); !checked) return checked.error();
  if (Result<void> checked = check_member_values(given.body, given.api); !checked) return checked.error();
  if (Result<void> known = check_results(given.body, given.api); !known) return known.error();
  Result<void> read = model.reader.read_into(made.request, given.text, "the request", sent_to(given.api));
  if (!read) return read.error();
  if (Result<void> said = say_where_reply_begins(made.request.conversation, given.body, given.api); !said)
    return said.error();
  const Conversation& conversation = made.request.conversation;
  if (Result<void> said = check_said(conversation); !said) return said.error();
  if (Result<void> checked = check_texts(conversation); !checked) return checked.error();
  Result<Rendering> rendering = model.reader.render(made.request, options);
  if (!rendering) return rendering.error();
  made.rendering = std::move(*rendering);
  TokenizeOptions tokenizing = model.tokenize;
  tokenizing.want_tokens = want_offsets;
  Result<PromptTokens> tokens = tokenize(made.rendering, conversation, *model.tokenizer, tokenizing);
  if (!tokens) return tokens.error();
  made.tokens = std::move(*tokens);
  if (made.tokens.ids.empty()) return Error(ErrorCode::conversation, "the prompt is empty");
  return made;
}

/// The grammar of the reply, which begins where the prompt ends.
Result<Printed> grammar_of(const ServedModel& model, const Prepared& prepared, GrammarOptions asked,
                           const RenderOptions& options) {
  const Conversation& conversation = prepared.request.conversation;
  const bool has_calls = !conversation.tools().items().empty();
  if (!wants_grammar(asked, has_calls)) return Printed();
  const Result<ReplyStart> start = model.reader.reply(conversation.variables());
  if (!start) return start.error();
  const Result<Template>& chosen = model.reader.template_for(conversation);
  if (!chosen) return chosen.error();
  Result<std::string> prompt =
      reply_prompt(*chosen, conversation, options, start->format.source(), prepared.rendering.text());
  if (!prompt) return prompt.error();
  asked.prompt = std::move(*prompt);
  return grammar_in(model, std::move(asked), has_calls, *start, GrammarSyntax::structural_tag);
}

/// Where each token lies in the prompt, counted in characters.
std::string offsets_of(std::string_view text, std::span<const PromptToken> tokens) {
  std::string out = "[";
  std::size_t byte = 0, character = 0;
  const auto character_at = [&](std::size_t at) {
    for (; byte < at; ++byte) character += (static_cast<unsigned char>(text[byte]) & 0xC0) != 0x80 ? 1 : 0;
    return std::to_string(character);
  };
  for (const PromptToken& token : tokens) {
    if (out.size() > 1) out += ",";
    const std::string begin = character_at(token.bytes.begin);
    out.append("[").append(begin).append(",").append(character_at(token.bytes.end)).append("]");
  }
  return out += "]";
}

std::string choice_json(const GrammarOptions& asked) {
  if (asked.tools.empty()) return R"("none")";
  switch (asked.choice) {
    case ToolChoice::automatic: return R"("auto")";
    case ToolChoice::required: return R"("required")";
    case ToolChoice::none: return R"("none")";
    case ToolChoice::named: break;
  }
  return JsonWriter('{')
      .text("type", "function")
      .raw("function", JsonWriter('{').text("name", asked.name).take())
      .take();
}

/// What an engine that reads replies itself needs of the request.
std::string parse_context(const Conversation& conversation, Value body, const GrammarOptions& asked) {
  std::int64_t calls = 0;
  for (const Value& message : conversation.messages().items())
    calls += static_cast<std::int64_t>(message["tool_calls"].items().size());
  const Value variables = body["chat_template_kwargs"];
  const Value reasoning = body["include_reasoning"];
  JsonWriter out('{');
  asked.tools.empty() || asked.tools == "[]" ? out.null("tools") : out.raw("tools", asked.tools);
  out.raw("tool_choice", choice_json(asked)).flag("parallel_tool_calls", asked.parallel);
  out.flag("include_reasoning", !reasoning.is(Kind::boolean) || reasoning.integer != 0);
  out.raw("chat_template_kwargs", variables.is(Kind::dict) ? json_text(variables) : "{}");
  return out.number("history_tool_call_cnt", calls).take();
}

/// The GenerateRequest for a chat in one of the APIs.
Result<std::string> render_chat(const Call& call, Value body, const ModelRef& model, RenderedApi api) {
  if (Result<void> given = api == RenderedApi::responses ? check_input(body) : Result<void>(); !given)
    return given.error();
  const Value previous = body["previous_response_id"];
  if (!previous.is_undefined() && !previous.is_none())
    return Error(ErrorCode::conversation, "previous_response_id needs a state, which /render does not keep")
        .input("previous_response_id");
  if (Result<void> refused = api == RenderedApi::messages ? refuse_thread(body) : Result<void>(); !refused)
    return refused.error();
  const Result<SamplingSettings> sampling = read_engine_settings(*model, body);
  if (!sampling) return sampling.error();
  const Result<OwnGrammar> own = own_structured_outputs(body);
  if (!own) return own.error();
  const RenderOptions options = model->render_now();
  const bool wants_offsets = flag_of(body["return_token_offsets"], false);
  const Result<Prepared> prepared = prepare(
      *model, {.api = reply_api_of(api), .body = body, .text = call.exchange.request().body}, options, wants_offsets);
  if (!prepared) return prepared.error();
  const Result<GrammarOptions> asked = grammar_options(prepared->request.conversation);
  if (!asked) return asked.error();
  const bool has_calls = !prepared->request.conversation.tools().items().empty();
  if (Result<void> alone = own->text ? check_alone(*own, *asked, has_calls) : Result<void>(); !alone)
    return alone.error();
  const auto grammar = own->text ? Result<Printed>(Printed()) : grammar_of(*model, *prepared, *asked, options);
  if (!grammar) return grammar.error();
  const std::string context = parse_context(prepared->request.conversation, body, *asked);
  const std::string offsets =
      wants_offsets ? offsets_of(prepared->rendering.text(), prepared->tokens.tokens) : std::string();
  const std::string given(body["request_id"].text());
  const std::string id = api == RenderedApi::responses ? (given.empty() ? random_id("resp_") : given)
                                                       : (given.empty() ? random_id("chatcmpl-") : "chatcmpl-" + given);
  return generate_request({.model = *model,
                           .api = api,
                           .request = body,
                           .sampling = *sampling,
                           .id = id,
                           .ids = prepared->tokens.ids,
                           .grammar = text_of(*grammar).get(),
                           .own = own->text.get(),
                           .offsets = offsets,
                           .parse_context = context});
}

/// The ids of one prompt of /v1/completions. Its text is the client's whole prompt, so control tokens in it are meant.
Result<std::vector<TokenId>> ids_of_prompt(const ServedModel& model, Value prompt, bool adds_special) {
  std::vector<TokenId> ids;
  if (prompt.is_sequence()) {
    for (const Value& id : prompt.items()) {
      if (!id.is_small_int() || id.integer < 0 || id.integer > INT32_MAX)
        return Error(ErrorCode::conversation, "prompt has an item that is no id of a token").input("prompt");
      ids.push_back(static_cast<TokenId>(id.integer));
    }
    return ids;
  }
  if (!prompt.is_string())
    return Error(ErrorCode::conversation, "prompt must be a string, a list of strings, ids, or a list of lists of ids")
        .input("prompt");
  std::vector<EncodedToken> tokens;
  if (Result<void> done = model.tokenizer->encode(prompt.text(), nullptr, tokens); !done) return done.error();
  for (const EncodedToken& token : tokens) ids.push_back(token.id);
  const TokenizerFacts& facts = model.tokenizer->facts();
  if (adds_special) {
    ids.insert(ids.begin(), facts.puts_before.begin(), facts.puts_before.end());
    ids.insert(ids.end(), facts.puts_after.begin(), facts.puts_after.end());
  }
  return ids;
}

/// A list of GenerateRequests, one for each prompt.
Result<std::string> render_prompts(const Call& call, Value body, const ModelRef& model) {
  const Result<SamplingSettings> sampling = read_engine_settings(*model, body);
  if (!sampling) return sampling.error();
  const Result<OwnGrammar> own = own_structured_outputs(body);
  if (!own) return own.error();
  const Value given = body["prompt"];
  const bool is_list = given.is_sequence() && !given.items().empty() && !given.items()[0].is_small_int();
  const std::vector<Value> prompts =
      is_list ? std::vector<Value>(given.items().begin(), given.items().end()) : std::vector<Value>{given};
  const Result<GrammarOptions> asked = grammar_options(call.exchange.request().body, "the request");
  if (!asked) return asked.error();
  if (Result<void> alone = own->text ? check_alone(*own, *asked, !body["tools"].items().empty()) : Result<void>();
      !alone)
    return alone.error();
  const auto grammar =
      own->text ? Result<Printed>(Printed()) : content_grammar_in(*model, *asked, GrammarSyntax::structural_tag);
  if (!grammar) return grammar.error();
  const Value special = body["add_special_tokens"];
  const bool adds_special = !special.is(Kind::boolean) || special.integer != 0;
  const std::string named(body["request_id"].text());
  const std::string id = named.empty() ? random_id("cmpl-") : "cmpl-" + named;
  std::string list = "[";
  for (std::size_t number = 0; number < prompts.size(); ++number) {
    const Result<std::vector<TokenId>> ids = ids_of_prompt(*model, prompts[number], adds_special);
    if (!ids) return ids.error();
    if (ids->empty()) return Error(ErrorCode::conversation, "prompt is empty").input("prompt");
    if (number > 0) list += ", ";
    list += generate_request({.model = *model,
                              .api = RenderedApi::completions,
                              .request = body,
                              .sampling = *sampling,
                              .id = prompts.size() == 1 ? id : id + "-" + std::to_string(number),
                              .ids = *ids,
                              .grammar = text_of(*grammar).get(),
                              .own = own->text.get()});
  }
  return list += "]";
}

Task<> answer_rendered(Call& call, RenderedApi api) {
  const auto make = [&call, api] {
    const auto render = [api](const Call& of, Value body, const ModelRef& model) {
      return render_chat(of, body, model, api);
    };
    return read_request(call, render);
  };
  const Result<std::string> body = co_await apart(call, make);
  co_await answer_as_vllm(call.exchange, body);
}

}  // namespace

Task<> render_chat_completions(Call& call) { return answer_rendered(call, RenderedApi::chat); }
Task<> render_messages(Call& call) { return answer_rendered(call, RenderedApi::messages); }
Task<> render_responses(Call& call) { return answer_rendered(call, RenderedApi::responses); }

Task<> render_completions(Call& call) {
  const auto make = [&call] { return read_request(call, render_prompts); };
  const Result<std::string> body = co_await apart(call, make);
  co_await answer_as_vllm(call.exchange, body);
}

}  // namespace parlance::serve
