// A GGUF file as a source: its templates by name, its special tokens by their numbers in its
// vocabulary.
//
// Of a model split into several files only the first has these; another part leads to it by name.
// Begin reading at open_gguf.
#include "base/utf8.h"
#include "sources/files.h"
#include "sources/gguf.h"
#include "sources/openers.h"

namespace parlance {
namespace {

constexpr std::string_view kGgufSuffix = ".gguf";
constexpr std::string_view kLookedForInGguf =
    "looked for the keys tokenizer.chat_template and tokenizer.chat_template.NAME; give a template "
    "with -t, or the "
    "Hugging Face folder that the file was made from";

/// The parts of a split file's name: PREFIX-00002-of-00003.gguf, with five digits each.
struct PartName {
  std::string_view prefix;
  std::string_view number;
  std::string_view rest;  ///< "-of-00003.gguf"
};

bool is_number(std::string_view text) { return text.find_first_not_of("0123456789") == text.npos; }

std::optional<PartName> part_name(std::string_view path) {
  constexpr std::size_t kRest = sizeof "-of-00003.gguf" - 1;
  constexpr std::size_t kDigits = 5;
  if (path.size() < kRest + kDigits + 1) return std::nullopt;
  PartName name;
  name.rest = path.substr(path.size() - kRest);
  name.number = path.substr(path.size() - kRest - kDigits, kDigits);
  name.prefix = path.substr(0, path.size() - kRest - kDigits);
  const bool fits = name.prefix.ends_with('-') && is_number(name.number) && name.rest.starts_with("-of-") &&
                    is_number(name.rest.substr(4, kDigits)) && name.rest.ends_with(kGgufSuffix);
  return fits ? std::optional(name) : std::nullopt;
}

bool is_later_part(std::string_view path) {
  const std::optional<PartName> name = part_name(path);
  return name && name->number != "00001";
}

std::string first_part(std::string_view path) {
  const std::optional<PartName> name = part_name(path);
  return name ? std::string(name->prefix) + "00001" + std::string(name->rest) : std::string();
}

Error no_first_part(const std::string& path, const GgufHeader& header, const std::string& first) {
  std::string message = path + ": part " + std::to_string(*header.split_number + 1) + " of a split model";
  if (header.split_count) message += " of " + std::to_string(*header.split_count) + " files";
  message += "; its templates and tokens are in the first part";
  return Error(ErrorCode::no_template, std::move(message))
      .hint(first.empty() ? "give the first part" : first + " is not there");
}

void add_tokens(ModelSource& source, const GgufHeader& header) {
  for (const GgufTokenId& token : header.token_ids) {
    const std::optional<std::string_view> text =
        token.id < 0 ? std::nullopt : header.tokens.at(static_cast<std::uint64_t>(token.id));
    if (text && utf8::is_valid(*text, false)) {
      source.special_tokens.push_back({std::string(token.variable), std::string(*text), token.id});
      continue;
    }
    std::string note = std::string(token.key) + " (byte " + std::to_string(token.offset) + ") is ";
    note += token.id < 0 ? "no number of a token" : std::to_string(token.id);
    if (text) note += ", whose text is not UTF-8";
    if (!text && token.id >= 0) note += ", and the vocabulary has " + std::to_string(header.tokens.size()) + " tokens";
    source.notes.push_back(note + ": left out");
  }
}

/// llama.cpp's names of file types, by their numbers; "": it has gone, or is none.
constexpr std::string_view kFileTypes[] = {
    "F32",    "F16",    "Q4_0",   "Q4_1",    "",       "",       "",       "Q8_0",   "Q5_0",  "Q5_1",
    "Q2_K",   "Q3_K_S", "Q3_K_M", "Q3_K_L",  "Q4_K_S", "Q4_K_M", "Q5_K_S", "Q5_K_M", "Q6_K",  "IQ2_XXS",
    "IQ2_XS", "Q2_K_S", "IQ3_XS", "IQ3_XXS", "IQ1_S",  "IQ4_NL", "IQ3_S",  "IQ3_M",  "IQ2_S", "IQ2_M",
    "IQ4_XS", "IQ1_M",  "BF16",   "",        "",       "",       "TQ1_0",  "TQ2_0",  "MXFP4"};

WeightFacts weights_of(const GgufHeader& header) {
  const auto text = [](std::string_view given) {
    return utf8::is_valid(given, false) ? std::string(given) : std::string();
  };
  const std::int64_t type = header.file_type.value_or(-1);
  const bool is_known = type >= 0 && type < static_cast<std::int64_t>(std::size(kFileTypes));
  return {.family = text(header.architecture),
          .size = text(header.size_label),
          .quantization = std::string(is_known ? kFileTypes[static_cast<std::size_t>(type)] : "")};
}

ModelSource source_of(const std::string& path, const GgufHeader& header) {
  ModelSource source;
  source.path = source.tokenizer_path = path;
  for (const GgufTemplate& found : header.templates) {
    source.templates.push_back(
        {std::string(found.name), std::string(found.text), path + " (" + std::string(found.key) + ")"});
  }
  add_tokens(source, header);
  source.add_bos_token = header.add_bos_token;
  source.add_eos_token = header.add_eos_token;
  source.weights = weights_of(header);
  source.looked_for = kLookedForInGguf;
  if (!header.type.empty() && header.type != "model") {
    source.looked_for = "its general.type is '" + std::string(header.type) + "': it is not a model by itself";
  }
  return source;
}

Result<ModelSource> open_part(const std::string& path, bool lead_to_first) {
  const Result<MappedFile> file = MappedFile::open(path, kMaxGgufHeader);
  if (!file) return file.error();
  const Result<GgufHeader> header = read_gguf(file->bytes(), path, &*file);
  if (!header) return header.error();
  if (header->split_number.value_or(0) <= 0 || !header->templates.empty()) return source_of(path, *header);
  const std::string first = lead_to_first ? first_part(path) : std::string();
  if (first.empty() || !is_file(first)) return no_first_part(path, *header, first);
  return open_part(first, false);
}

}  // namespace

bool is_gguf(const SourceRequest& request) {
  if (!is_file(request.path)) return false;
  if (request.path.ends_with(kGgufSuffix)) return true;
  const Result<MappedFile> file = MappedFile::open(request.path, 4);
  return file && file->bytes() == "GGUF";
}

Result<ModelSource> open_gguf(const SourceRequest& request) { return open_part(request.path, true); }

std::vector<std::string> gguf_files_in(const std::string& folder) {
  std::vector<std::string> names = files_in(folder, kGgufSuffix);
  std::erase_if(names, [](const std::string& name) { return is_later_part(name); });
  return names;
}

}  // namespace parlance
