// Source: transformers 5.24.0, tokenization_utils_tokenizers.py (_convert_from_sentencepiece).
#include "sources/sentencepiece_names.h"

#include "base/utf8.h"
#include "base/wire.h"
#include "json/writer.h"
#include "sources/files.h"
#include "sources/sentencepiece_trainer.h"

namespace parlance {
namespace {

struct Named {
  std::string_view name;
  std::int32_t SpTrainer::*id;
  std::string SpTrainer::*text;
};
constexpr Named kNamedTokens[] = {{"bos_token", &SpTrainer::bos_id, &SpTrainer::bos},
                                  {"eos_token", &SpTrainer::eos_id, &SpTrainer::eos},
                                  {"unk_token", &SpTrainer::unk_id, &SpTrainer::unk}};

}  // namespace

Result<std::string> names_of_sentencepiece(const std::string& path) {
  const Result<std::string> bytes = read_file(path, kMaxSpModel);
  if (!bytes) return bytes.error();
  SpTrainer trainer;
  bool is_whole = !bytes->empty();
  WireReader model(*bytes);
  for (WireField part; model.next(part);) {
    if (part.number == kSpTrainerField && part.type == WireField::bytes)
      is_whole = read_sp_trainer(part.text, trainer) && is_whole;
  }
  if (!model.good() || !is_whole) return std::string("{}");
  std::string json = "{";
  const SpTrainer defaults;  // also in the place of what is not UTF-8, and so no text of JSON
  for (const Named& token : kNamedTokens) {
    if (trainer.*token.id < 0) continue;
    const std::string& given = trainer.*token.text;
    const std::string& text = utf8::is_valid(given, false) ? given : defaults.*token.text;
    json.append(json.size() > 1 ? "," : "").append(json_string(token.name)).append(":").append(json_string(text));
  }
  return json + "}";
}

}  // namespace parlance
