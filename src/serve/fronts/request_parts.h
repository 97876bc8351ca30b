// What the fronts read of a request besides its conversation.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "parlance/json.h"
#include "serve/fronts/apart.h"
#include "serve/fronts/client_words.h"
#include "serve/fronts/responses/conversation_input.h"
#include "serve/fronts/responses/item_references.h"
#include "serve/fronts/routes.h"
#include "serve/json/members.h"
#include "serve/sessions/go_on.h"

namespace parlance::serve {

/// The body as values. Fails with json (place), conversation if it is no object.
Result<Document> parsed_body(const std::string& body);
using ModelRef = std::shared_ptr<const ServedModel>;
/// The model of this name, which is undefined, null or "" where the request has none. Fails with no_template, and with
/// conversation for what is no name.
Result<ModelRef> model_called(const Call& call, Value name);
/// The model that a request names; for a route that takes an engine, one that has an engine. Fails as model_called()
/// does.
Result<ModelRef> model_of(const Call& call, Value body);

/// What `read(call, body, model)` makes of a request: its body as values, and the model that it names. Fails as
/// parsed_body(), model_of() and `read` do, in the words of the request.
template <typename Read>
std::invoke_result_t<Read&, Call&, Value, const ModelRef&> read_request(Call& call, Read read) {
  const Result<Document> document = parsed_body(call.exchange.request().body);
  if (!document) return document.error();
  const Result<ModelRef> model = model_of(call, document->root());
  if (!model) return model.error();
  auto made = read(call, document->root(), *model);
  if (!made) return in_words_of(document->root(), made.error());
  return made;
}

/// A request of Responses, with the conversation that it names (conversation_input.h) and the items that it names by
/// their ids (item_references.h) in their places.
struct NamedInput {
  Value body;
  std::string_view text;
  std::vector<Loss> losses{};  ///< of items that are not known any more
  KeptBefore before{};
};

/// What `read(input)` makes of it with the items in the places of their ids.
template <typename Read>
std::invoke_result_t<Read&, NamedInput> with_referenced(Call& call, NamedInput input, const ModelRef& model,
                                                        bool may_wait, Read& read) {
  const Sessions sessions(call.gateway.sessions(), call.gateway.shared(), may_wait);
  Result<WholeInput> whole = with_referenced_items(input.body, {.responses = call.gateway.responses(may_wait),
                                                                .sessions = sessions,
                                                                .model = model,
                                                                .owner = owner_of(call.exchange.request()),
                                                                .most = call.gateway.most_body()});
  if (!whole) return whole.error();
  if (!whole->json) return read(std::move(input));
  Document made;
  if (Result<void> parsed = made.parse(*whole->json); !parsed) return parsed.error();
  return read(NamedInput{made.root(), *whole->json, std::move(whole->losses), std::move(input.before)});
}

/// What `read(input)` makes of it. `may_wait`: as Sessions take it. Fails as with_conversation(),
/// with_referenced_items() and `read` do; throws as Sessions do, and AskApart where the conversation is long.
template <typename Read>
std::invoke_result_t<Read&, NamedInput> with_named_items(Call& call, Value body, const ModelRef& model, bool may_wait,
                                                         Read read) {
  const std::string owner = owner_of(call.exchange.request());
  Result<ConversationInput> kept =
      with_conversation(body, call.gateway.conversations(may_wait), owner, call.gateway.most_body());
  if (!kept) return kept.error();
  if (!may_wait && kept->json.size() > kShortWork) throw AskApart();
  Document whole;
  if (!kept->json.empty())
    if (Result<void> parsed = whole.parse(kept->json); !parsed) return parsed.error();
  const NamedInput input{.body = kept->json.empty() ? body : whole.root(),
                         .text = kept->json.empty() ? call.exchange.request().body : kept->json,
                         .before = kept->before};
  auto made = with_referenced(call, input, model, may_wait, read);
  if (!made) return in_own_places(made.error(), kept->before);
  return made;
}

/// The client's name of its session: a header, or a member of the body.
SessionHints hints_of(const HttpRequest& request, Value body);
/// What a client asks for in vain must not be left out in silence. Fails with conversation.
Result<void> refuse_suffix(Value body);
/// `stream_options` are of a stream, as vLLM and OpenAI have it. Fails with conversation.
Result<void> check_stream_options(Value options, bool streams);
/// "token_id:17", as vLLM writes a token by its id; "" for -1.
std::string name_of_token(TokenId id);
/// `n`: 1, or as many choices as are asked for. Fails with conversation.
Result<unsigned> choices_of(Value settings);
/// How many alternatives of each token are asked for; unset: no logprobs.
std::optional<unsigned> logprobs_of(Value body);
/// Whether a stream shall have its usage: by OpenAI's member, or by OpenRouter's.
bool includes_usage(Value body);
/// Whether a request of Responses asks for those of the text.
bool includes_logprobs(Value body);
/// A part of a path or a query, where signs may be written as %2F.
std::string unescaped(std::string_view text);

}  // namespace parlance::serve
