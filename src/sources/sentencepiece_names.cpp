// Source: sentencepiece_model.proto (TrainerSpec); transformers 5.23.0, tokenization_utils_tokenizers.py
// (_convert_from_sentencepiece).
#include "sources/sentencepiece_names.h"

#include "base/utf8.h"
#include "base/wire.h"
#include "json/writer.h"
#include "sources/files.h"

namespace parlance {
namespace {

constexpr std::size_t kMostOfModel = std::size_t{64} << 20;  // those in use are below 10 MiB
constexpr std::uint64_t kTrainer = 2;                        // the field of the outermost message

/// A token, and the numbers of the fields of its id and its text.
struct Named {
  std::string_view name, text;
  std::uint64_t id_field, text_field;
  std::int32_t id;
};

}  // namespace

Result<std::string> names_of_sentencepiece(const std::string& path) {
  const Result<std::string> bytes = read_file(path, kMostOfModel);
  if (!bytes) return bytes.error();
  Named all[] = {{"bos_token", "<s>", 41, 46, 1}, {"eos_token", "</s>", 42, 47, 2}, {"unk_token", "<unk>", 40, 45, 0}};
  WireReader model(*bytes);
  for (WireField part; model.next(part);) {
    if (part.number != kTrainer || part.type != WireField::bytes) continue;
    WireReader trainer(part.text);
    for (WireField field; trainer.next(field);) {
      for (Named& token : all) {
        if (field.number == token.id_field && field.type == WireField::varint)
          token.id = static_cast<std::int32_t>(static_cast<std::uint32_t>(field.value));
        const bool is_text = field.type == WireField::bytes && !field.text.empty() && utf8::is_valid(field.text, false);
        if (field.number == token.text_field && is_text) token.text = field.text;
      }
    }
  }
  if (!model.good() || bytes->empty()) return std::string("{}");
  std::string json = "{";
  for (const Named& token : all) {
    if (token.id < 0) continue;
    json.append(json.size() > 1 ? "," : "").append(json_string(token.name)).append(":").append(json_string(token.text));
  }
  return json + "}";
}

}  // namespace parlance
