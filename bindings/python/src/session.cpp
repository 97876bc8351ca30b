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

struct PyTokenSession {
  std::shared_ptr<const Engine> engine;
  std::shared_ptr<const Tokenizer> tokenizer;  // outlives the session, which is declared after it
  Session session;
  RenderOptions render{};
  std::optional<ReplyStart> start{};  ///< how replies are read, once the template has written one in another way
};

nb::object difference_of(const PyTokenSession& self) {
  const std::optional<PrefixDifference>& found = self.session.difference();
  return found ? nb::object(difference_to_dict(*found)) : nb::none();
}

/// Does the last prompt end as the one that `start` was made for?
bool fits(const ReplyStart& start, const Session& session) {
  const std::string_view opened = opened_before_reply(start.options.prompt, start.format.source());
  return !opened.empty() && session.text().ends_with(opened);
}

Result<ReplyStart> start_behind(const PyTokenSession& self) {
  Result<ReplyStart> start =
      self.engine->reader.reply_to(self.session.conversation(), self.render, self.session.text());
  if (start) start->format = PyReplyReader(start->format, start->options, self.tokenizer).format;
  return start;
}

/// To see how a reply is read takes renders, so it is done only where a template has written one in another way than it
/// was sampled; from then on such replies take no longer than others.
Result<Extension> extend(PyTokenSession& self, const std::vector<Message>& messages,
                         const std::vector<std::string>& trust) {
  const SameReply same = same_when_read([&self]() -> Result<ReplyStart> { return *self.start; });
  const bool is_known = self.start && fits(*self.start, self.session);
  Result<Extension> extension = self.session.extend(messages, trust, is_known ? same : SameReply());
  if (extension || is_known || extension.error().code() != ErrorCode::history_rewritten) return extension;
  Result<ReplyStart> start = start_behind(self);
  if (!start) return extension;
  self.start = std::move(*start);
  return self.session.extend(messages, trust, same);
}

std::vector<TokenId> extend_by(PyTokenSession& self, nb::handle messages, const std::vector<std::string>& trust) {
  const std::shared_ptr<Prompt> added = read_prompt(self.engine, {.messages = messages, .take = {}});
  Result<Extension> extension = [&] {
    const nb::gil_scoped_release release;
    return extend(self, messages_from(added->request.conversation, 0), trust);
  }();
  return take(std::move(extension)).ids;
}

}  // namespace

void bind_session(nb::module_& module) {
  nb::class_<PyTokenSession>(module, "_TokenSession")
      .def("ids",
           [](const PyTokenSession& s) { return std::vector<TokenId>(s.session.ids().begin(), s.session.ids().end()); })
      .def("copy",
           [](const PyTokenSession& s) {
             const nb::gil_scoped_release release;
             return PyTokenSession{s.engine, s.tokenizer, s.session.copy(), s.render, s.start};
           })
      .def("size", [](const PyTokenSession& s) { return s.session.ids().size(); })
      .def(
          "append_sampled", [](PyTokenSession& s, const std::vector<TokenId>& ids) { s.session.append_sampled(ids); },
          "ids"_a)
      .def("extend", &extend_by, "messages"_a, "trust"_a = std::vector<std::string>())
      .def("difference", &difference_of, nb::sig("def difference(self) -> dict[str, typing.Any] | None"));
  module.def(
      "_begin_session",
      [](const std::shared_ptr<const Engine>& engine, const PyTokenizer& tokenizer, nb::handle messages,
         nb::handle tools, nb::handle documents, nb::handle now, nb::dict variables, std::vector<std::string> trust,
         bool protect) {
        std::shared_ptr<Prompt> prompt = read_prompt(engine, {.messages = messages,
                                                              .tools = tools,
                                                              .documents = documents,
                                                              .now = now,
                                                              .variables = variables,
                                                              .take = {}});
        SessionOptions options{.render = prompt->options, .tokenize = {.trust = std::move(trust), .protect = protect}};
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
      "trust"_a, "protect"_a);
}

}  // namespace parlance::python
