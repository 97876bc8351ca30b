// Arguments that are a program, which becomes the text of one argument: {"code": "print(1)"}. It ends with its turn, or
// with the literal behind it; its last bytes may close it.
#include "base/inside.h"
#include "json/json.h"
#include "reply/marker_texts.h"
#include "reply/read/text_reading.h"
#include "reply/tools.h"

namespace parlance::reply {
namespace {

/// What the program becomes: the form's argument, unless the tool has another one that alone may be a string.
std::string_view argument_of(const Reading& in) {
  const std::string_view usual = in.part().arguments.argument;
  const reply::DeclaredTools* data = inside_of(in.tools()).get();
  if (data == nullptr) return usual;
  const auto tool = data->tools.find(in.call->name.view());
  if (tool == data->tools.end()) return usual;
  const auto& members = data->types[tool->second].members;
  if (members.contains(usual)) return usual;
  std::string_view text;
  for (const auto& [key, node] : members) {
    if ((data->types[node].types & Types::kString) == 0) continue;
    if (!text.empty()) return usual;
    text = key;
  }
  return text.empty() ? usual : text;
}

class ProgramReader final : public PartReaderOf<ProgramReader> {
 private:
  void read_part(const char*& p, const char* end) override {
    const auto put = [this](std::string_view bytes) { in().out.program(bytes); };
    meet(read_to_marker(in(), in().form().code, p, end, put));
  }

  void meet(Met met) {
    if (!met) return;
    if (met.mark.meaning == Meaning::part) return close(met.source);
    close(std::string_view(met.source).substr(0, met.mark.closed));
    met.source.erase(0, std::exchange(met.mark.closed, std::uint16_t{0}));
    in().to_driver().met = std::move(met);
  }

  void close(std::string_view source) {
    const bool complete = !source.empty() || in().form().form->close_optional || !in().has_literal_behind();
    if (!complete) in().out.malformed(0, in().literal_behind());
    if (complete) {
      in().out.flush();
      in().out.piece(ReplyEvent::Kind::arguments, source, "\"}");
    }
    answer({Step::What::over, !source.empty(), complete});
  }

  bool finish_part() override {
    const auto put = [this](std::string_view bytes) { in().out.program(bytes); };
    if (!in().has_literal_behind()) {
      if (in().held.bytes.empty()) return close({}), true;
      if (is_cut_marker()) {
        put(in().held.take());
        return answer({Step::What::over, false, false}), true;
      }
      return meet(settle_marker(in(), in().form().code, put)), true;
    }
    const std::string held = in().held.take();
    if (const std::string_view literal = literal_at_begin(held); !literal.empty()) {
      close(literal);
      in().give_back(std::string_view(held).substr(literal.size()));
      return true;
    }
    put(held);
    if (in().form().form->close_optional) return close({}), true;
    return answer({Step::What::over, false, false}), true;
  }

  /// Whether a marker that looks like a control token began behind the program, and the reply ended in it.
  bool is_cut_marker() const {
    const std::string_view held = trimmed_left(in().held.bytes);
    return held.size() > 2 && is_control_tag(held) && in().match_held(in().form().code, 0).size == 0;
  }

  /// The literal behind the program that `held` begins with, with the framing before it as far as that is there.
  std::string_view literal_at_begin(std::string_view held) const {
    const ReplyMarker& marker = in().form().form->call[in().call->part + std::size_t{1}].literal;
    for (const std::string& text : marker.texts) {
      for (std::size_t skipped = 0; skipped <= marker.before.size(); ++skipped) {
        const std::string whole = marker.before.substr(skipped) + text;
        if (held.starts_with(whole)) return held.substr(0, whole.size());
      }
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<PartReader> program_reader(Reading& in) {
  std::string open = "{";
  append_json_string(open, argument_of(in));
  in.put_meant(open.append(": \""));
  return std::make_unique<ProgramReader>();
}

}  // namespace parlance::reply
