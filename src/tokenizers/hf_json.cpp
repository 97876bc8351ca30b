// HfTokenizer: Hugging Face's tokenizer.json, by way of the Rust crate in hf/ (hf_abi.h). Here what the crate says only
// becomes C++; how a text is encoded stands in hf/src/encode.rs. Begin reading at open_hf_json.
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "json/document.h"
#include "json/writer.h"
#include "tokenizers/adapters.h"
#include "tokenizers/hf/hf_abi.h"
#include "tokenizers/rebuilt.h"
#include "tokens/tokenizer/joints.h"

namespace parlance {
namespace {

std::string_view view(const std::uint8_t* data, std::size_t size) {
  return size == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data), size);
}

const std::uint8_t* bytes_of(std::string_view text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

std::string take(parlance_hf_bytes bytes) {
  std::string text(view(bytes.data, bytes.size));
  parlance_hf_bytes_free(bytes);
  return text;
}

ErrorCode code_of(std::uint32_t kind) {
  switch (kind) {
    case PARLANCE_HF_JSON: return ErrorCode::json;
    case PARLANCE_HF_NOT_UTF8: return ErrorCode::value;
    case PARLANCE_HF_TOO_LARGE: return ErrorCode::limit_memory;
    case PARLANCE_HF_REFUSED: return ErrorCode::unencodable;
    default: return ErrorCode::tokenizer;
  }
}

/// The error of a file. Our own reader says with a place what is wrong with JSON; where it finds nothing, the crate's
/// words have to do.
Error file_error(parlance_hf_error& error, std::string_view json, const std::string& path) {
  const Error said(code_of(error.kind), take(error.message));
  if (error.kind != PARLANCE_HF_JSON) return said.at({.name = path});
  Document document;
  if (const auto read = document.parse(json, path); !read) return read.error();
  return said.at({.name = path, .line = error.line, .column = static_cast<std::uint32_t>(error.column)});
}

AddedToken added_token(const parlance_hf_added& token) {
  const auto has = [&](std::uint32_t flag) { return (token.flags & flag) != 0; };
  return {.id = token.id,
          .text = std::string(view(token.text, token.size)),
          .special = has(PARLANCE_HF_SPECIAL),
          .lstrip = has(PARLANCE_HF_LSTRIP),
          .rstrip = has(PARLANCE_HF_RSTRIP),
          .normalized = has(PARLANCE_HF_NORMALIZED),
          .single_word = has(PARLANCE_HF_SINGLE_WORD),
          .control = has(PARLANCE_HF_CONTROL)};
}

/// Of a token to add.
std::uint32_t flags_of(const AddedToken& token, bool named, bool legacy, bool of_file) {
  const auto flag = [](bool set, std::uint32_t bit) { return set ? bit : 0u; };
  return flag(token.special, PARLANCE_HF_SPECIAL) | flag(token.lstrip, PARLANCE_HF_LSTRIP) |
         flag(token.rstrip, PARLANCE_HF_RSTRIP) | flag(token.normalized, PARLANCE_HF_NORMALIZED) |
         flag(token.single_word, PARLANCE_HF_SINGLE_WORD) | flag(named, PARLANCE_HF_NAMED) |
         flag(legacy, PARLANCE_HF_LEGACY) | flag(of_file, PARLANCE_HF_OF_FILE);
}

/// The lines of `text`, each with its end.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

/// Says which of the file's own tokens have another id than it says, where others were added before them.
void note_other_ids(const std::vector<AddedToken>& of_file, TokenizerFacts& facts) {
  std::unordered_map<std::string_view, TokenId> ids;
  for (const AddedToken& token : facts.added) ids.emplace(token.text, token.id);
  for (const AddedToken& token : of_file) {
    const auto found = ids.find(token.text);
    if (found != ids.end() && found->second == token.id) continue;
    const std::string is = found == ids.end() ? "is no added token" : "is " + std::to_string(found->second);
    facts.notes.push_back(json_string(token.text) + " " + is + "; tokenizer.json says " + std::to_string(token.id));
  }
}

TokenizerFacts hf_facts_of(const parlance_hf* tokenizer, const MoreTokens& more) {
  parlance_hf_facts said;
  parlance_hf_get_facts(tokenizer, &said);
  TokenizerFacts facts;
  facts.kind = "tokenizer.json, " + std::string(view(said.kind, said.kind_size));
  facts.weighs_runs = view(said.kind, said.kind_size) == "Unigram";
  facts.vocabulary_size = said.vocabulary_size;
  for (std::size_t i = 0; i < said.added_count; ++i) {
    facts.added.push_back(added_token(said.added[i]));
  }
  facts.markers.assign(said.markers, said.markers + said.marker_count);
  if (said.unk >= 0) facts.unk = said.unk;
  facts.puts_before.assign(said.before, said.before + said.before_count);
  facts.puts_after.assign(said.after, said.after + said.after_count);
  facts.keeps_text = said.keeps_text != 0;
  facts.notes = lines_of(view(said.notes, said.notes_size));
  note_other_ids(more.of_file, facts);
  if (!more.rebuilt) return facts;
  std::string note = note_on_shape(*more.rebuilt, view(said.shape, said.shape_size));
  if (!note.empty()) facts.notes.push_back(std::move(note));
  return facts;
}

void append(const parlance_hf_tokens& tokens, std::vector<EncodedToken>& into) {
  into.reserve(into.size() + tokens.size);
  for (std::size_t i = 0; i < tokens.size; ++i) {
    const parlance_hf_token& token = tokens.data[i];
    into.push_back({token.id, {token.begin, token.end}, token.added != 0});
  }
}

class HfTokenizer final : public Tokenizer {
 public:
  HfTokenizer(parlance_hf* tokenizer, const MoreTokens& more) : tokenizer_(tokenizer) {
    facts_ = hf_facts_of(tokenizer, more);
  }
  ~HfTokenizer() override { parlance_hf_free(tokenizer_); }
  HfTokenizer(const HfTokenizer&) = delete;
  HfTokenizer& operator=(const HfTokenizer&) = delete;

  Result<void> encode(std::string_view text, const std::vector<ByteSpan>* trusted,
                      std::vector<EncodedToken>& into) const override {
    return encode_with(text, trusted, into, nullptr);
  }
  Result<void> encode_and_find_dropped(std::string_view text, const std::vector<ByteSpan>* trusted,
                                       std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped) const override {
    return encode_with(text, trusted, into, facts_.keeps_text ? nullptr : &dropped);
  }

  std::string token_text(TokenId id) const override { return take(parlance_hf_token_text(tokenizer_, id)); }

 private:
  Result<void> encode_with(std::string_view text, const std::vector<ByteSpan>* trusted, std::vector<EncodedToken>& into,
                           std::vector<ByteSpan>* dropped) const {
    static_assert(sizeof(ByteSpan) == sizeof(parlance_hf_span));
    parlance_hf_ways ways{};
    std::vector<std::uint32_t> cuts;
    if (trusted != nullptr) {
      ways.guarded = 1;
      ways.trusted = reinterpret_cast<const parlance_hf_span*>(trusted->data());
      ways.trusted_count = trusted->size();
      for (const Joint& joint : joints(text, *trusted)) cuts.push_back(joint.at);
      ways.cuts = cuts.data();
      ways.cut_count = cuts.size();
    }
    parlance_hf_tokens tokens{};
    parlance_hf_spans lost{};
    parlance_hf_error error{};
    if (parlance_hf_encode(tokenizer_, bytes_of(text), text.size(), &ways, &tokens,
                           dropped == nullptr ? nullptr : &lost, &error) == 0)
      return Error(code_of(error.kind), take(error.message));
    append(tokens, into);
    parlance_hf_tokens_free(tokens);
    if (dropped == nullptr) return {};
    for (std::size_t i = 0; i < lost.size; ++i) dropped->push_back({lost.data[i].begin, lost.data[i].end});
    parlance_hf_spans_free(lost);
    return {};
  }

  parlance_hf* tokenizer_;
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> open_hf_json(std::string_view text, const std::string& path,
                                                const MoreTokens& more) {
  parlance_hf_error error{};
  std::vector<parlance_hf_added> added;
  std::unordered_set<std::string_view> of_file;
  for (const AddedToken& token : more.of_file) of_file.insert(token.text);
  const auto add = [&](const AddedToken& token, bool named) {
    const std::uint32_t flags = flags_of(token, named, more.are_legacy, of_file.contains(token.text));
    added.push_back({token.id, flags, bytes_of(token.text), token.text.size()});
  };
  for (const AddedToken& token : more.numbered) add(token, false);
  for (const AddedToken& token : more.named) add(token, true);
  for (const AddedToken& token : more.others) add(token, false);
  parlance_hf* tokenizer = parlance_hf_open(bytes_of(text), text.size(), added.data(), added.size(), &error);
  if (tokenizer == nullptr) return file_error(error, text, path);
  return std::unique_ptr<Tokenizer>(std::make_unique<HfTokenizer>(tokenizer, more));
}

}  // namespace parlance
