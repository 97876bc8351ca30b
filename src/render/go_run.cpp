// Running Go templates for a render. Begin reading at run_go.
#include "render/go_run.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/ascii.h"
#include "render/rendering.h"
#include "render/turn_header.h"

namespace parlance {

void GoTurnRecorder::note(std::uint32_t depth, const gotemplate::Turn* turn, std::uint64_t bytes) {
  if (open_.size() <= depth) open_.resize(depth + std::size_t{1});
  Open& open = open_[depth];
  if (open.turn != nullptr && bytes > open.begin) {
    turns_.push_back({open.turn->first, open.turn->role_name() == "assistant", open.begin, bytes});
  }
  open = {turn, bytes};
}

namespace {

Error describe(const gotemplate::Program& program, const gotemplate::Node* node, const Runtime& rt,
               const Conversation& conversation) {
  return Error(rt.failure.code, rt.failure.message)
      .at(node != nullptr ? program.source.locate(node->begin, node->end) : Location())
      .input(conversation.path_of(rt.failure.culprit))
      .hint(rt.failure.hint);
}

bool asks_to_fill(const gotemplate::ChatRequest& request) {
  return gotemplate::length_of(request.prompt) != 0 && gotemplate::length_of(request.suffix) != 0;
}

/// Ollama's server answers that the model "does not support insert".
Error fills_no_gap(const Conversation& conversation, const gotemplate::ChatRequest& request) {
  const std::string path = conversation.path_of(request.suffix);
  return Error(ErrorCode::conversation, "the template fills no gap between `prompt` and `suffix`")
      .input(path.empty() ? "suffix" : path)
      .hint("a template that does has .Suffix, and Ollama refuses the request for others; leave out suffix for a chat");
}

const DictObject* variables_of(const Conversation& conversation) {
  const Value all = conversation.variables();
  return all.kind == Kind::dict ? all.dict : nullptr;
}

}  // namespace

Result<void> run_go(const gotemplate::Program& program, const Conversation& conversation, const DictObject* variables,
                    const RenderOptions& options, Runtime& rt, Output& output, GoMemory& memory) {
  memory.turns.clear();
  gotemplate::ChatRequest request;
  if (!gotemplate::read_request(rt, variables, options.as_is, request)) {
    return describe(program, nullptr, rt, conversation);
  }
  if (!options.as_is && asks_to_fill(request) && !program.mentions_suffix) return fills_no_gap(conversation, request);
  gotemplate::OllamaRun run(program, rt, output, memory.variables);
  if (options.want_assistant) run.observe(memory.turns);
  if (!run.run(request)) return describe(program, run.failed_at(), rt, conversation);
  return {};
}

namespace {

/// Renders the turns before the one that begins with message `first`; the text only.
/// An arena and an output of its own: the prompt's are still in use while its turns are asked about.
class PrefixRenderer {
 public:
  PrefixRenderer(const gotemplate::Program& program, const Conversation& conversation, const RenderOptions& options)
      : program_(program), conversation_(conversation), options_(options) {}

  /// False where that fails, as templates may that never see such a request.
  bool render(std::uint32_t first, std::string& text) {
    arena_.reset();
    arena_.set_limit(options_.limits.memory_bytes);
    arena_.set_logging(false);
    output_.reset();
    Runtime rt(arena_, options_.limits);
    rt.now = options_.now;
    gotemplate::ChatRequest request;
    if (!gotemplate::read_request(rt, variables_of(conversation_), options_.as_is, request)) return false;
    const auto after = std::find_if(request.turns.begin(), request.turns.end(),
                                    [&](const gotemplate::Turn& turn) { return turn.first >= first; });
    request.turns = request.turns.first(static_cast<std::size_t>(after - request.turns.begin()));
    request.system = gotemplate::system_of(rt, request.turns);  // what comes later was not said yet
    gotemplate::OllamaRun run(program_, rt, output_, variables_);
    if (!run.run(request)) return false;
    text.clear();
    for (std::uint32_t i = 0; i < output_.piece_count(); ++i) {
      text.append(output_.pieces()[i].data, output_.pieces()[i].size);
    }
    return true;
  }

 private:
  const gotemplate::Program& program_;
  const Conversation& conversation_;
  const RenderOptions& options_;
  Arena arena_;
  Output output_;
  gotemplate::VariableStack variables_;
};

/// The first byte of the turn that came from its message, its role apart; the turn's end if there
/// is none.
std::uint64_t own_text(const Conversation& conversation, const Rendering& prompt, const GoTurn& turn) {
  const std::span<const Span> spans = prompt.spans();
  auto span = std::partition_point(spans.begin(), spans.end(), [&](const Span& s) { return s.begin < turn.begin; });
  for (; span != spans.end() && span->begin < turn.end; ++span) {
    if (span->message < static_cast<std::int32_t>(turn.first)) continue;
    if (!path_of_span(conversation, *span).ends_with("].role")) return span->begin;
  }
  return turn.end;
}

/// The first byte of a range that is text of another than an assistant's message; its end if there is none. A template
/// that loses a turn's text may write a later turn's in its place.
std::uint64_t text_of_others(const Conversation& conversation, const Rendering& prompt, TextRange range) {
  if (!conversation.messages().is_sequence()) return range.end;
  const std::span<const Value> messages = items(conversation.messages());
  const std::span<const Span> spans = prompt.spans();
  auto span = std::partition_point(spans.begin(), spans.end(), [&](const Span& s) { return s.begin < range.begin; });
  for (; span != spans.end() && span->begin < range.end; ++span) {
    const auto message = static_cast<std::size_t>(span->message);
    if (span->message >= 0 && message < messages.size() && !is_assistant(messages[message])) return span->begin;
  }
  return range.end;
}

/// The longest beginning of the turn that the prompt for it ends with, be it for white space behind.
std::string_view header_of(std::string_view turn, std::string_view prompt) {
  constexpr std::size_t kLongest = 1024, kMostBlanks = 16;  // a header is short, and a template may be hostile
  const std::size_t last = ascii::trimmed_right(prompt).size();
  const std::size_t trimmed = std::max(last, prompt.size() - std::min(prompt.size(), kMostBlanks));
  for (std::size_t size = std::min(turn.size(), kLongest); size > 0; --size) {
    const std::string_view header = turn.substr(0, size);
    for (std::size_t end = prompt.size() + 1; end-- > trimmed;)
      if (prompt.substr(0, end).ends_with(header)) return header;
  }
  return {};
}

/// Does the prompt for a turn end as what stands before the turn, from the text of the message before it on? So it is
/// where a template writes its tools before the last question alone, say.
bool ends_before(const Rendering& prompt, std::uint64_t turn, std::string_view prefix) {
  const std::span<const Span> spans = prompt.spans();
  auto span = std::partition_point(spans.begin(), spans.end(), [turn](const Span& s) { return s.end <= turn; });
  while (span != spans.begin() && std::prev(span)->message < 0) --span;
  return span != spans.begin() && prefix.ends_with(prompt.text().substr(0, turn).substr(std::prev(span)->begin));
}

/// The header of a turn that its prompt shows in another place; nothing where it shows none.
std::optional<std::string> header_elsewhere(const Rendering& prompt, const GoTurn& turn, std::string_view before_own,
                                            std::string_view prefix) {
  const std::string_view header = header_of(before_own, prefix);
  if (!ascii::is_blank(header)) return std::string(header);
  // Blanks alone may end any prompt.
  const bool is_it = ends_before(prompt, turn.begin, prefix.substr(0, prefix.size() - header.size()));
  return is_it ? std::optional<std::string>(header) : std::nullopt;
}

/// Where the last turn ends, behind which a template may ask for the next one before its loop is over: where the header
/// begins again, or else what it writes before the turn's own text.
std::uint64_t end_before_header(const Rendering& prompt, std::uint64_t begin, std::uint64_t end,
                                std::string_view header) {
  const std::size_t again = prompt.text().substr(0, end).rfind(header);
  if (ascii::is_blank(header) || again == prompt.text().npos || again < begin) return end;
  const std::span<const Span> spans = prompt.spans();
  auto span = std::partition_point(spans.begin(), spans.end(), [again](const Span& s) { return s.end <= again; });
  const bool is_of_template = std::all_of(span, spans.end(), [](const Span& s) { return s.message < 0; });
  return is_of_template ? again : end;
}

}  // namespace

void fill_go_assistant(const gotemplate::Program& program, const Conversation& conversation,
                       const RenderOptions& options, const std::vector<GoTurn>& turns, Rendering& into) {
  // Bytes of prompts for turns; and what decoding a message costs, in bytes.
  constexpr std::size_t kTimes = 8, kAtLeast = std::size_t{1} << 18, kDecoded = 32;
  std::size_t budget = kTimes * fields_of(into).size + kAtLeast;
  PrefixRenderer prefixes(program, conversation, options);
  std::string prefix;
  std::optional<std::string> header;  // of the last turn that was asked about: most have the same; none: not known
  for (const GoTurn& turn : turns) {
    std::uint64_t end = std::min<std::uint64_t>(turn.end, fields_of(into).size);
    if (!turn.is_assistant || turn.begin >= end) continue;
    const std::uint64_t own = own_text(conversation, into, turn);
    const std::string_view turn_text = into.text().substr(turn.begin, end - turn.begin);
    std::uint64_t begin = std::min(own, end);
    if (budget > 0) {
      const bool done = prefixes.render(turn.first, prefix);
      // Each render also decodes the whole request, whatever it prints of it.
      budget -= std::min(budget, (done ? prefix.size() : kAtLeast / 64) + kDecoded * turns.size());
      const bool is_exact =
          done && into.text().starts_with(prefix) && prefix.size() <= end && prefix.size() >= turn.begin;
      header.reset();
      if (is_exact) header = turn_text.substr(0, prefix.size() - turn.begin);
      if (done && !is_exact) header = header_elsewhere(into, turn, turn_text.substr(0, own - turn.begin), prefix);
    }
    if (header && turn_text.starts_with(*header)) begin = turn.begin + header->size();
    if (&turn == &turns.back()) {
      const std::string_view before_own = own < end ? turn_text.substr(0, own - turn.begin) : std::string_view();
      end = end_before_header(into, begin, end, header ? *header : before_own);
    }
    const std::uint64_t others = text_of_others(conversation, into, {begin, end});
    if (begin < others && (others == end || own < others)) fields_of(into).assistant.push_back({begin, others});
  }
  std::sort(fields_of(into).assistant.begin(), fields_of(into).assistant.end(),
            [](const TextRange& a, const TextRange& b) { return a.begin < b.begin; });
}

}  // namespace parlance
