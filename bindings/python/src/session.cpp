// TokenSession: the engine's Session, for parlance.Session in Python. Begin reading at bind_session.
#include "parlance/session.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
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
};

nb::object difference_of(const PyTokenSession& self) {
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
  start->format = reader->format;
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

std::shared_ptr<PyReplyReader> reader_of_reply(PyTokenSession& self) {
  Result<Beginning> found = [&] {
    const nb::gil_scoped_release release;
    return beginning(self);
  }();
  return take(std::move(found)).reader;
}

std::vector<TokenId> extend_by(PyTokenSession& self, nb::handle messages, const std::vector<std::string>& trust,
                               nb::handle meant) {
  const std::shared_ptr<Prompt> added = read_prompt(self.engine, {.messages = messages, .take = {}});
  std::vector<Message> in_place_of;
  if (!meant.is_none())
    in_place_of = messages_from(read_prompt(self.engine, {.messages = meant, .take = {}})->request.conversation, 0);
  self.switches.clear();
  Result<Extension> extension = [&] {
    const nb::gil_scoped_release release;
    return extend(self, messages_from(added->request.conversation, 0), trust, in_place_of);
  }();
  return take(std::move(extension)).ids;
}

/// What may help where these messages were refused; "" for nothing.
nb::str advise(PyTokenSession& self, nb::handle messages) {
  const std::shared_ptr<Prompt> refused = read_prompt(self.engine, {.messages = messages, .take = {}});
  {
    const nb::gil_scoped_release release;
    const Result<Beginning> found = beginning(self);
    self.switches = self.session.keeping_switches(messages_from(refused->request.conversation, 0), {},
                                                  found ? same_as(*found) : SameReply());
  }
  raise_kept();
  return text_to_python(advice_of(self.switches));
}

}  // namespace

void bind_session(nb::module_& module) {
  nb::class_<PyTokenSession>(module, "_TokenSession")
      .def("ids",
           [](const PyTokenSession& s) { return std::vector<TokenId>(s.session.ids().begin(), s.session.ids().end()); })
      .def("copy",
           [](const PyTokenSession& s) {
             const nb::gil_scoped_release release;
             return PyTokenSession{s.engine, s.tokenizer, s.session.copy(), s.render, s.known, {}};
           })
      .def("reader", &reader_of_reply, "For the reply to the last prompt. Others have it too: feed a copy.")
      .def("size", [](const PyTokenSession& s) { return s.session.ids().size(); })
      .def(
          "append_sampled", [](PyTokenSession& s, const std::vector<TokenId>& ids) { s.session.append_sampled(ids); },
          "ids"_a)
      .def("extend", &extend_by, "messages"_a, "trust"_a = std::vector<std::string>(), "meant"_a = nb::none(),
           "`meant`: the messages in whose place these stand, as in Session::extend().")
      .def("advise", &advise, "messages"_a, "After extend() refused these messages: which variables would help.")
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
          const nb::gil_scoped_release release;
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
