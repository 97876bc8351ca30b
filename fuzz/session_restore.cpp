// Fuzz target: any bytes as a session that was saved. It is refused, or it is a session: it is saved as what restores
// the same, and it can be extended or says why not.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "parlance/session.h"

namespace {

using namespace parlance;

constexpr TokenId kStart = 256, kEnd = 257;

Result<void> encode_bytes(std::string_view run, std::vector<TokenId>& ids) {
  for (const char c : run) ids.push_back(static_cast<unsigned char>(c));
  return {};
}

std::string text_of(TokenId id) {
  if (id == kStart) return "<|start|>";
  return id == kEnd ? "<|end|>" : std::string(1, static_cast<char>(id));
}

const CallbackTokenizer& tokenizer() {
  static const CallbackTokenizer made({{{kStart, "<|start|>", true}, {kEnd, "<|end|>", true}},
                                       encode_bytes,
                                       text_of,
                                       {.kind = "bytes", .vocabulary_size = 258}});
  return made;
}

const Template& chat_template() {
  static const Result<Template> made = Template::compile(
      "{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content }}<|end|>\n{% endfor %}"
      "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}");
  return *made;
}

/// A saved session is what the fuzzer begins with: most bytes are none.
std::string example() {
  Conversation chat;
  if (!chat.add({.role = "user", .content = "Hi <|end|>"})) std::abort();
  Result<Session> session = Session::begin(chat_template(), tokenizer(), std::move(chat));
  if (!session) std::abort();
  session->append_sampled(std::vector<TokenId>{'Y', 'o', kEnd});
  if (!session->extend(std::vector<Message>{{.role = "assistant", .content = "Yo"}, {.role = "user", .content = "?"}}))
    std::abort();
  return session->save();
}

void restore(std::string_view saved) {
  SessionOptions options;
  options.render.limits.steps = 100'000;
  Result<Session> session = Session::restore(chat_template(), tokenizer(), saved, options);
  if (!session) {
    if (session.error().display().empty()) std::abort();
    return;
  }
  const std::string once = session->save();
  const Result<Session> again = Session::restore(chat_template(), tokenizer(), once, options);
  if (!again || again->save() != once) std::abort();
  session->append_sampled(std::vector<TokenId>{'Y', 'o', kEnd});
  const std::vector<TokenId> before(session->ids().begin(), session->ids().end());
  const std::vector<Message> more = {{.role = "assistant", .content = "Yo"}, {.role = "user", .content = "And?"}};
  (void)session->extend(more);
  if (!std::equal(before.begin(), before.end(), session->ids().begin())) std::abort();
}

}  // namespace

/// The first two bytes say where the example goes on with the input, and from where on behind it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string known = example();
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  restore(input);
  if (size < 3) return 0;
  const std::size_t begin = data[0] * known.size() / 256, end = begin + data[1] % 16;
  restore(known.substr(0, begin) + std::string(input.substr(2)) + known.substr(std::min(end, known.size())));
  return 0;
}
