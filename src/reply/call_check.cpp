// From a call's events to what does not fit. Begin reading at reply::CallCheck::take.
#include "reply/call_check.h"

#include <algorithm>
#include <utility>

#include "base/inside.h"
#include "base/nearest.h"
#include "reply/arguments_check.h"
#include "reply/tools.h"

namespace parlance {
namespace {

/// An event of its own, with no bytes: it stands behind what it is about, so that the sources of all events still are
/// the reply.
void say(const ReplyEvent& behind, ReplyEvent::Fault fault, std::string_view expected, const ReplySink& sink) {
  ReplyEvent event;
  event.kind = ReplyEvent::Kind::malformed;
  event.fault = fault;
  event.call = behind.call;
  event.position = behind.position + behind.source.size();
  event.text = expected;
  sink(event);
}

}  // namespace

reply::CallCheck::CallCheck(std::shared_ptr<const ReplyFormat> format, const ReplyOptions& options)
    : tools_(options.tools), format_(std::move(format)), limit_(options.limits.pending) {}

/// The format's forms name tools that models have whether a request declares them or not.
bool reply::CallCheck::is_own(std::string_view name) const {
  const std::vector<CallForm>& forms = format_->calls;
  return std::any_of(forms.begin(), forms.end(),
                     [&](const CallForm& form) { return !form.name.empty() && form.name == name; });
}

void reply::CallCheck::take(const ReplyEvent& event, const ReplySink& sink) {
  using Kinds = ReplyEvent::Kind;
  sink(event);
  switch (event.kind) {
    case Kinds::call_begin: return begin(event, sink);
    case Kinds::arguments:
      if (!checks_) return;
      // Arguments longer than the reader itself would hold are given up, since JSON is checked as a whole.
      arguments_ += event.text;
      checks_ = arguments_.size() <= limit_;
      return;
    case Kinds::malformed:
      // The reader has reported a text where the schema wants something else: check_arguments() must not repeat it.
      if (event.fault == ReplyEvent::Fault::type) ++texts_;
      return;
    case Kinds::call_end:
      if (event.complete && checks_) end(event, sink);
      checks_ = false;
      return;
    default: return;
  }
}

void reply::CallCheck::begin(const ReplyEvent& event, const ReplySink& sink) {
  arguments_.clear();
  texts_ = 0;
  checks_ = tools_.declares(event.text);
  name_ = event.text;
  if (checks_ || is_own(name_)) return;
  NearestName nearest(name_);
  for (const auto& [name, schema] : inside_of(tools_)->tools) nearest.offer(name);
  const std::string hint = nearest.best().empty() ? "" : " (" + nearest.hint() + ")";
  say(event, ReplyEvent::Fault::unknown_tool, "a declared tool, not '" + name_ + "'" + hint, sink);
}

void reply::CallCheck::end(const ReplyEvent& event, const ReplySink& sink) {
  const auto schema = inside_of(tools_)->parameters.find(name_);
  if (schema == inside_of(tools_)->parameters.end()) return;
  for (const reply::Misfit& misfit : reply::check_arguments(schema->second, arguments_, texts_)) {
    const ReplyEvent::Fault fault = misfit.missing ? ReplyEvent::Fault::missing : ReplyEvent::Fault::misfit;
    say(event, fault, misfit.expected + " of '" + name_ + "'" + misfit.found, sink);
  }
}

}  // namespace parlance
