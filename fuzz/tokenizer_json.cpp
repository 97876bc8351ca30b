// Fuzz target: a tokenizer.json, a zero byte, a text. It opens, or is refused in words. What opens encodes the text and
// one made of its added tokens in both ways, and the law of the guarded one must hold. Begin reading at check_text.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

#include "tokenizers/adapters.h"

namespace {

using namespace parlance;

constexpr std::size_t kLongestText = 512;

bool random_merges(const Tokenizer& tokenizer) {
  const auto& notes = tokenizer.facts().notes;
  return std::any_of(notes.begin(), notes.end(),
                     [](const std::string& note) { return note.find("at random") != note.npos; });
}

const AddedToken* control_token(const Tokenizer& tokenizer, TokenId id) {
  const auto& added = tokenizer.facts().added;
  const auto found = std::find_if(added.begin(), added.end(), [&](const AddedToken& t) { return t.id == id; });
  return found != added.end() && found->control ? &*found : nullptr;
}

/// The tokens, or none where the tokenizer refuses the text. Spans lie in the text, in order.
bool encode(const Tokenizer& tokenizer, std::string_view text, const std::vector<ByteSpan>* trusted,
            std::vector<EncodedToken>& tokens) {
  if (const auto done = tokenizer.encode(text, trusted, tokens); !done) {
    if (done.error().display().empty() || !tokens.empty()) std::abort();
    return false;
  }
  for (const EncodedToken& token : tokens) {
    if (token.bytes.begin > token.bytes.end || token.bytes.end > text.size() || token.id < 0) std::abort();
    (void)tokenizer.token_text(token.id);
  }
  return true;
}

/// No control token for a byte outside `trusted`; unknown text may be unknown.
void check_law(const Tokenizer& tokenizer, std::string_view text, const std::vector<ByteSpan>& trusted) {
  std::vector<EncodedToken> tokens;
  if (!encode(tokenizer, text, &trusted, tokens)) return;
  for (const EncodedToken& token : tokens) {
    const AddedToken* control = control_token(tokenizer, token.id);
    if (control == nullptr || token.bytes.begin == token.bytes.end) continue;
    const std::string_view own = text.substr(token.bytes.begin, token.bytes.end - token.bytes.begin);
    if (!token.added && tokenizer.facts().unk == token.id && own.find(control->text) == own.npos) continue;
    const auto covers = [&](const ByteSpan& span) {
      return span.begin <= token.bytes.begin && token.bytes.end <= span.end;
    };
    if (std::none_of(trusted.begin(), trusted.end(), covers)) std::abort();
  }
}

void check_all_trusted(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<EncodedToken> own, guarded;
  const std::vector<ByteSpan> all = {{0, static_cast<std::uint32_t>(text.size())}};
  const bool encoded = encode(tokenizer, text, nullptr, own);
  if (encode(tokenizer, text, &all, guarded) != encoded || own.size() != guarded.size()) std::abort();
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].id != guarded[i].id || own[i].bytes.begin != guarded[i].bytes.begin ||
        own[i].bytes.end != guarded[i].bytes.end || own[i].added != guarded[i].added)
      std::abort();
  }
}

void check_text(const Tokenizer& tokenizer, std::string_view text) {
  text = text.substr(0, kLongestText);
  const auto size = static_cast<std::uint32_t>(text.size());
  check_law(tokenizer, text, {});
  check_law(tokenizer, text, {{size / 4, size / 2}, {size / 2 + 1, size}});
  std::vector<ByteSpan> thirds;
  for (std::uint32_t at = 0; at + 2 < size; at += 3) thirds.push_back({at, at + 2});
  check_law(tokenizer, text, thirds);
  if (!text.empty() && !random_merges(tokenizer)) check_all_trusted(tokenizer, text);
}

void check_file(std::string_view data) {
  const std::size_t cut = data.find('\0');
  const auto tokenizer = open_hf_json(data.substr(0, cut), "tokenizer.json");
  if (!tokenizer) {
    if (tokenizer.error().display().empty()) std::abort();
    return;
  }
  if (cut != data.npos) check_text(**tokenizer, data.substr(cut + 1));
  std::string marks;
  for (const AddedToken& token : (*tokenizer)->facts().added) {
    if (marks.size() + token.text.size() < kLongestText) marks += token.text + " " + token.text.substr(0, 1);
  }
  check_text(**tokenizer, marks);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The crate keeps words of a tokenizer as long as the thread lives that encoded them.
  std::thread([&] { check_file(text); }).join();
  return 0;
}
