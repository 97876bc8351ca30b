// TokenSession: the engine's Session, for parlance.Session in Python. Begin reading at bind_session.
#include "parlance/session.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "errors.h"
#include "gil.h"
#include "in_use.h"
#include "lent.h"
#include "parlance/losses.h"
#include "parlance/sampled_reply.h"
#include "prefix.h"
#include "prompt.h"
#include "replies.h"
#include "tokenizers.h"

namespace parlance::python {

using namespace nb::literals;

namespace {

/// How a reply is read, and a reader that has read nothing of it yet.
struct Beginning {
  ReplyStart start;
  std::shared_ptr<PyReplyReader> reader;
};

struct PyTokenSession {
  std::shared_ptr<const Engine> engine;
  std::shared_ptr<const Tokenizer> tokenizer;  // outlives the session, which is declared after it
  Session session;
  RenderOptions render{};
  std::vector<Beginning> known{};         ///< of the replies so far: a template may open one for each kind of message
  std::vector<KeepingSwitch> switches{};  ///< that would have avoided the last refusal
  std::size_t first_new = 0;              ///< of the messages that were added last
  InUse in_use{};

  InUse::Entered enter() const { return in_use.enter("session"); }
};

nb::object difference_of(const PyTokenSession& self) {
  const auto in_use = self.enter();
  const std::optional<PrefixDifference>& found = self.session.difference();
  if (!found) return nb::none();
  nb::dict switches;
  for (const KeepingSwitch& one : self.switches) switches[text_to_python(one.variable)] = one.value;
  nb::dict made = difference_to_dict(*found);
  made["switches"] = switches;
  return made;
}

/// Does the last prompt end as the one that `start` was made for?
bool fits(const ReplyStart& start, const Session& session) {
  const std::string_view opened = opened_before_reply(start.options.prompt, start.format.source());
  return !opened.empty() && session.text().ends_with(opened);
}

const Beginning* known_beginning(const PyTokenSession& self) {
  for (const Beginning& one : self.known)
    if (fits(one.start, self.session)) return &one;
  return nullptr;
}

/// How the reply to the last prompt is read. To see it takes renders, so it is kept for other prompts that end alike.
Result<Beginning> beginning(PyTokenSession& self) {
  if (const Beginning* known = known_beginning(self)) return *known;
  Result<ReplyStart> start =
      self.engine->reader.reply_to(self.session.conversation(), self.render, self.session.text());
  if (!start) return start.error();
  auto reader = std::make_shared<PyReplyReader>(start->format, start->options, self.tokenizer);
  start->format = reader->format();
  constexpr std::size_t kMost = 8;
  if (self.known.size() == kMost) self.known.erase(self.known.begin());
  self.known.push_back({std::move(*start), std::move(reader)});
  return self.known.back();
}

SameReply same_as(const Beginning& known) {
  return same_when_read([start = known.start]() -> Result<ReplyStart> { return start; });
}

/// Without a reply that was read, only where a template has written it in another way than it was sampled.
Result<Extension> extend(PyTokenSession& self, const std::vector<Message>& messages,
                         const std::vector<std::string>& trust, const std::vector<Message>& meant) {
  const Beginning* known = known_beginning(self);
  Result<Extension> extension =
      self.session.extend(messages, trust, known != nullptr ? same_as(*known) : SameReply(), meant);
  if (extension || known != nullptr || extension.error().code() != ErrorCode::history_rewritten) return extension;
  const Result<Beginning> found = beginning(self);
  return found ? self.session.extend(messages, trust, same_as(*found), meant) : extension;
}

/// Is there text in a message's content? Numbers and names of members leave no trace in the prompt that shows whose
/// they are, nor do parts that are images.
bool has_text(Value content) {
  if (content.is_string()) return whole_text(content).find_first_not_of(" \t\r\n") != std::string::npos;
  if (content.is_sequence()) return std::ranges::any_of(content.items(), has_text);
  if (const Value part = content["text"]; !part.is_undefined() && !content["type"].is_undefined())
    return has_text(part);
  if (!content["type"].is_undefined()) return false;
  return std::ranges::any_of(content.members(), [](const DictEntry& member) { return has_text(member.value); });
}

/// Is it a path in the content of a message?
bool is_in_content(std::string_view path) {
  const std::size_t end = path.find(']');
  return path.starts_with("messages[") && end != path.npos && path.substr(end).starts_with("].content");
}

/// The path of a message in the request; one that was added has its number.
std::string path_of_message(const Conversation& conversation, std::size_t number, std::size_t first) {
  const std::string path = conversation.path_of(conversation.messages().items()[number]);
  return path.empty() ? "messages[" + std::to_string(number - first) + "]" : path;
}

/// The contents that were added last, the model's own apart, of which the template writes nothing: it leaves out roles
/// that it does not know, say.
std::vector<std::string> lost(const PyTokenSession& self) {
  const auto in_use = self.enter();
  const std::optional<PromptPart>& part = self.session.last_part();
  if (!part) return {};
  const Conversation& conversation = self.session.conversation();
  const std::span<const Value> messages = conversation.messages().items();
  std::vector<bool> is_there(messages.size());
  const std::size_t first = first_of_request(conversation);
  for (const Span& span : part->rendering.spans()) {
    const bool is_of_message = span.message >= 0 && static_cast<std::size_t>(span.message) < is_there.size();
    if (is_of_message && span.input != nullptr && is_in_content(path_of_span(conversation, span)))
      is_there[static_cast<std::size_t>(span.message)] = true;
  }
  std::vector<std::string> paths;
  for (std::size_t at = std::max(self.first_new, first); at < messages.size(); ++at) {
    const bool is_own = messages[at]["role"].text() == "assistant";
    if (!is_own && !is_there[at] && has_text(messages[at]["content"]))
      paths.push_back(path_of_message(conversation, at, first) + ".content");
  }
  return paths;
}

/// What is lost by the order of results of which one is message number `first` or behind it; by default, of those that
/// were added last.
std::vector<std::string> disorder(const PyTokenSession& self, std::optional<std::size_t> first) {
  const auto in_use = self.enter();
  const Conversation& conversation = self.session.conversation();
  std::vector<Loss> losses;
  {
    const GilRelease release;
    const Result<Template>& chosen = self.engine->reader.template_for(conversation);
    const std::size_t own = first ? first_of_request(conversation) + *first : self.first_new;
    if (chosen) losses = losses_of_order(*chosen, conversation, self.render, *LentWorkspace(), own);
  }
  std::vector<std::string> said;
  for (Loss& loss : losses) {
    loss.hint = in_python(loss.hint);
    said.push_back(loss.display());
  }
  return said;
}

std::shared_ptr<PyReplyReader> reader_of_reply(PyTokenSession& self) {
  const auto in_use = self.enter();
  Result<Beginning> found = [&] {
    const GilRelease release;
    return beginning(self);
  }();
  return take(std::move(found)).reader;
}

/// The messages that a request adds. What the model itself puts in front of each request is there already.
std::vector<Message> added_by(const Prompt& prompt) {
  const Conversation& conversation = prompt.request.conversation;
  return messages_from(conversation, first_of_request(conversation));
}

std::vector<TokenId> extend_by(PyTokenSession& self, nb::handle messages, const std::vector<std::string>& trust,
                               nb::handle meant) {
  const std::shared_ptr<Prompt> added = read_prompt(self.engine, {.messages = messages, .take = {}});
  const auto in_use = self.enter();
  std::vector<Message> in_place_of;
  if (!meant.is_none()) in_place_of = added_by(*read_prompt(self.engine, {.messages = meant, .take = {}}));
  self.switches.clear();
  const std::size_t first_new = self.session.conversation().messages().items().size();
  Result<Extension> extension = [&] {
    const GilRelease release;
    return extend(self, added_by(*added), trust, in_place_of);
  }();
  Extension made = take(std::move(extension));
  self.first_new = first_new;
  return std::move(made.ids);
}

/// What may help where these messages were refused; "" for nothing.
nb::str advise(PyTokenSession& self, nb::handle messages) {
  const std::shared_ptr<Prompt> refused = read_prompt(self.engine, {.messages = messages, .take = {}});
  const auto in_use = self.enter();
  {
    const GilRelease release;
    const Result<Beginning> found = beginning(self);
    self.switches = self.session.keeping_switches(added_by(*refused), {}, found ? same_as(*found) : SameReply());
  }
  raise_kept();
  return text_to_python(advice_of(self.switches));
}

/// For `with`, whose steps in and out of C++ no signal comes between, as it may between those of a lock's own methods.
void bind_in_use(nb::module_& module) {
  nb::class_<InUse>(module, "_InUse", "Whether a session is in use. Entered a second time, it raises RuntimeError.")
      .def(nb::init<>())
      .def("__enter__", [](const InUse& one) { (void)one.enter("session").release(); })
      .def(
          "__exit__", [](const InUse& one, nb::handle, nb::handle, nb::handle) { one.leave(); }, "type"_a.none(),
          "value"_a.none(), "traceback"_a.none());
}

}  // namespace

void bind_session(nb::module_& module) {
  bind_in_use(module);
  nb::class_<PyTokenSession>(module, "_TokenSession")
      .def("ids",
           [](const PyTokenSession& s) {
             const auto in_use = s.enter();
             return std::vector<TokenId>(s.session.ids().begin(), s.session.ids().end());
           })
      .def("copy",
           [](const PyTokenSession& s) {
             const auto in_use = s.enter();
             const GilRelease release;
             return PyTokenSession{s.engine, s.tokenizer, s.session.copy(), s.render, s.known, {}};
           })
      .def("reader", &reader_of_reply, "For the reply to the last prompt. Others have it too: feed a copy.")
      .def("size",
           [](const PyTokenSession& s) {
             const auto in_use = s.enter();
             return s.session.ids().size();
           })
      .def(
          "append_sampled",
          [](PyTokenSession& s, const std::vector<TokenId>& ids) {
            const auto in_use = s.enter();
            s.session.append_sampled(ids);
          },
          "ids"_a)
      .def("lost", &lost, "The paths of the contents added last of which the template writes nothing.")
      .def(
          "disorder", &disorder, "first"_a = nb::none(),
          "What is lost where results added last, or from message `first` on, stand in another order than their calls.")
      .def("extend", &extend_by, "messages"_a, "trust"_a = std::vector<std::string>(), "meant"_a = nb::none(),
           "`meant`: the messages in whose place these stand, as in Session::extend().")
      .def("advise", &advise, "messages"_a, "After extend() refused these messages: which variables would help.")
      .def(
          "_is_left", [](const PyTokenSession& s) { return s.in_use.is_left(); },
          "Whether the process was forked while another thread changed it: nobody may use it, nor destroy it.")
      .def("difference", &difference_of, nb::sig("def difference(self) -> dict[str, typing.Any] | None"));
  module.def(
      "_begin_session",
      [](const std::shared_ptr<const Engine>& engine, const PyTokenizer& tokenizer, nb::handle messages,
         nb::handle tools, nb::handle documents, nb::handle now, nb::dict variables, std::vector<std::string> trust,
         bool protect, bool plain_added, bool add_special_tokens) {
        std::shared_ptr<Prompt> prompt = read_prompt(engine, {.messages = messages,
                                                              .tools = tools,
                                                              .documents = documents,
                                                              .now = now,
                                                              .variables = variables,
                                                              .take = {}});
        SessionOptions options{.render = prompt->options,
                               .tokenize = {.trust = std::move(trust),
                                            .protect = protect,
                                            .plain_added = plain_added,
                                            .add_special_tokens = add_special_tokens}};
        Result<Session> begun = [&]() -> Result<Session> {
          const GilRelease release;
          const Result<Template>& compiled = engine->reader.template_for(prompt->request.conversation);
          if (!compiled) return compiled.error();
          const Conversation& chat = prompt->request.conversation;
          if (Result<void> fits = check_trust(chat, options.tokenize.trust, true); !fits) return fits.error();
          return Session::begin(*compiled, *tokenizer.tokenizer, std::move(prompt->request.conversation), options);
        }();
        return PyTokenSession{engine, tokenizer.tokenizer, take(std::move(begun)), options.render};
      },
      "engine"_a, "tokenizer"_a, "messages"_a, "tools"_a.none(), "documents"_a.none(), "now"_a.none(), "variables"_a,
      "trust"_a, "protect"_a, "plain_added"_a = false, "add_special_tokens"_a = false);
}

}  // namespace parlance::python
