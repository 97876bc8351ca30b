// A tokenizer.json as a class of transformers takes it. Source: transformers 5.24.0, tokenization_utils_tokenizers.py
// (convert_to_native_format), tokenization_utils_base.py (_from_pretrained). Begin reading at json_as_rebuilt.
#include <algorithm>
#include <limits>

#include "json/document.h"
#include "tokenizers/rebuilt.h"
#include "value/dict.h"

namespace parlance {
namespace {

Error not_rebuilt(const std::string& path, const std::string& why) {
  return Error(ErrorCode::tokenizer, path + ": " + why)
      .hint("without the option as_transformers it is read as the file itself says");
}

void append_member(std::string& json, std::string_view name, std::string_view value) {
  json += json.size() > 1 ? ",\"" : "\"";
  json.append(name).append("\":").append(value);
}

/// A part as a file has it: rows leave out what changes no ids, but must be there.
std::string whole_part(std::string part) {
  constexpr std::string_view kType = "\"type\":\"ByteLevel\"", kMore = "\"trim_offsets\":true,";
  for (std::size_t at = part.find(kType); at != part.npos; at = part.find(kType, at + kMore.size() + 1))
    part.insert(at, kMore);
  return part;
}

/// The added tokens that count: those of the configuration where it numbers any, else the file's by number.
std::string added_of(Value root, const Beside& beside) {
  const Value* list = member(root, "added_tokens");
  if (!beside.more.are_legacy || list == nullptr || list->kind != Kind::list) return "[]";
  std::vector<Value> tokens(items(*list).begin(), items(*list).end());
  const auto number = [](Value token) {
    const Value id = member_value(token, "id");
    return id.is_small_int() ? id.integer : std::numeric_limits<std::int64_t>::max();
  };
  std::stable_sort(tokens.begin(), tokens.end(), [&](Value a, Value b) { return number(a) < number(b); });
  std::string json = "[";
  for (const Value token : tokens) json.append(json.size() > 1 ? "," : "").append(json_text(token));
  return json + "]";
}

/// The unknown token, as JSON. A class writes it by Python's str(), also where there is none.
std::string unknown_of(const Beside& beside) {
  const auto same = [](const NamedToken& token) { return token.name == "unk_token"; };
  const auto named = std::find_if(beside.named.begin(), beside.named.end(), same);
  return named == beside.named.end() ? "\"None\"" : json_text(Value::view(named->text));
}

/// The file's vocabulary and merges with the settings of the class.
std::string model_of(Value model, std::string settings, const std::string& unknown) {
  constexpr std::string_view kUnknown = "\"@unk\"";
  if (const std::size_t at = settings.find(kUnknown); at != settings.npos)
    settings.replace(at, kUnknown.size(), unknown);
  std::string json = "{";
  append_member(json, "type", "\"BPE\"");
  if (settings.size() > 2) json.append(",").append(settings, 1, settings.size() - 2);
  append_member(json, "vocab", json_text(member_value(model, "vocab")));
  append_member(json, "merges", json_text(member_value(model, "merges")));
  return json + "}";
}

}  // namespace

Result<std::string> json_as_rebuilt(std::string_view text, const std::string& path, const Rebuilt& rebuilt,
                                    const Beside& beside, MoreTokens& more) {
  Document document;
  if (Result<void> read = document.parse(text, path); !read) return read.error();
  if (!rebuilt.is_followed)
    return not_rebuilt(path, "how transformers' class '" + rebuilt.class_name + "' encodes is not known here");
  const Value root = document.root();
  const Value model = member_value(root, "model");
  if (member_value(model, "vocab").kind != Kind::dict || member_value(model, "merges").kind != Kind::list)
    return not_rebuilt(path, "transformers' class '" + rebuilt.class_name + "' needs a vocabulary with merges");
  const Value listed = member_value(root, "added_tokens");
  for (const Value& token : listed.kind == Kind::list ? items(listed) : std::span<const Value>()) {
    const Value content = member_value(token, "content"), id = member_value(token, "id");
    if (!content.is_leaf() || !id.is_small_int()) continue;
    more.of_file.emplace_back();
    more.of_file.back().id = static_cast<TokenId>(id.integer);
    more.of_file.back().text = leaf_text(content);
  }
  std::string json = "{";
  append_member(json, "added_tokens", added_of(root, beside));
  append_member(json, "normalizer", rebuilt.normalizer);
  append_member(json, "pre_tokenizer", whole_part(rebuilt.pre_tokenizer));
  append_member(json, "model", model_of(model, rebuilt.model, unknown_of(beside)));
  for (const std::string_view kept : {"version", "post_processor", "decoder"})
    append_member(json, kept, json_text(member_value(root, kept)));
  return json + "}";
}

}  // namespace parlance
