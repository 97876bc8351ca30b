// The tokenizer of a command.
#include "cli/options/tokenizer_choice.h"

#include <algorithm>

#include "cli/input.h"
#include "cli/options/option_words.h"
#include "cli/options/options.h"
#include "cli/report.h"

namespace parlance::cli {
namespace {

/// What a built-in format's model numbers behind its vocabulary.
std::vector<std::string> vocabulary_tokens(const std::string& format_name) {
  const BuiltinFormat* format = find_format(format_name);
  if (format == nullptr) return {};
  return {format->vocabulary_tokens.begin(), format->vocabulary_tokens.end()};
}

/// Notes name members of TokenizerOptions, and here those are options.
std::string with_option(const std::string& note) {
  constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
      {"as_transformers: ", "--model-as transformers: "},
      {"special_tokens: ", "--special-token: "},
      {"split: ", "--split: "},
  };
  for (const auto& [name, option] : kOptions) {
    if (note.starts_with(name)) return std::string(option) + note.substr(name.size());
  }
  return note;
}

void report_tokenizer_notes(const std::string& path, const std::vector<std::string>& notes, bool all) {
  constexpr std::size_t kMostSaid = 20;  // as of losses
  const std::size_t said = all ? notes.size() : std::min(notes.size(), kMostSaid);
  for (std::size_t i = 0; i < said; ++i) say_note(path + ": " + in_options(with_option(notes[i])));
  if (said < notes.size())
    say_note(path + ": " + std::to_string(notes.size() - said) + " more notes; --verbose says all, --quiet none");
}

/// Without those that the model's folder says too, as report_model() says them.
std::vector<std::string> own_notes(std::vector<std::string> notes, const PromptOptions& prompt,
                                   const PromptSetup& setup) {
  const std::vector<std::string>& said = setup.model.notes;
  if (prompt.wish.file.empty())
    std::erase_if(notes, [&](const std::string& note) { return std::count(said.begin(), said.end(), note) != 0; });
  return notes;
}

}  // namespace

std::vector<std::string> model_readers() { return {"sentencepiece", "transformers"}; }

void declare_tokenizer_options(Options& app, TokenizerWish& wish) {
  app.add_option("--tokenizer", wish.path,
                 "A tokenizer: tokenizer.json, SentencePiece's .model, a GGUF\n"
                 "file, a tiktoken file, tekken.json, or a folder that has\n"
                 "one; by default the folder of -m, or the GGUF file of its weights")
      .placeholder("PATH");
  app.add_option("--special-token", wish.special_tokens,
                 "A control token that the tokenizer lacks; its id follows\n"
                 "the vocabulary; may be repeated")
      .placeholder("TEXT")
      .check([](const std::string& text) { return std::string(text.empty() ? "an empty text is not a token" : ""); })
      .one_value();
  app.add_option(
         "--model-as", wish.model_as,
         "How to read a .model or a tokenizer.json: as the file says (sentencepiece,\nthe default), or as transformers "
         "does, by the class that its\nconfiguration names")
      .placeholder("READER")
      .one_of(model_readers());
  app.add_option("--split", wish.split,
                 "How a tiktoken file splits text into words: a name, such as\n"
                 "cl100k_base, or a regular expression")
      .placeholder("NAME|REGEX");
}

void declare_protection_options(Options& app, TokenizeOptions& options) {
  app.add_option("--trust", options.trust,
                 "An input whose text may contain control tokens, e.g. messages[0].content,\n"
                 "messages[*].content or messages[assistant]; may be repeated")
      .placeholder("PATH")
      .one_value();
  app.add_flag("--plain-added", options.plain_added,
               "Let any text contain added tokens that are not special, such as\nHTML tags; not for models whose "
               "markers are such tokens\n(<tool_call>)");
  app.add_unset_flag("--no-protect", options.protect,
                     "Recognise control tokens in any text, as the tokenizer does by itself");
}

Result<void> check_protection(const TokenizeOptions& options) {
  if (Result<void> valid = validate(options); !valid) return valid;
  if (!options.protect && options.plain_added) return usage("with --no-protect everything is trusted already");
  if (!options.protect && !options.trust.empty()) return usage("with --no-protect everything is trusted already");
  return {};
}

Result<std::unique_ptr<Tokenizer>> open_chosen(const TokenizerWish& wish, const PromptOptions& prompt,
                                               PromptSetup& setup) {
  const std::string path = wish.path.empty() ? setup.model.tokenizer_path : wish.path;
  if (path.empty()) {
    // why the model has none
    for (const std::string& note : setup.model.notes) say_note(setup.model.path + ": " + note);
    return usage("which tokenizer? give --tokenizer PATH",
                 "a tokenizer.json, SentencePiece's .model, a GGUF file, a tiktoken file, tekken.json, or a folder "
                 "that has one");
  }
  count_as_read(path);
  TokenizerOptions options;
  options.special_tokens = options.sentencepiece.special_tokens = wish.special_tokens;
  if (wish.special_tokens.empty()) options.sentencepiece.special_tokens = vocabulary_tokens(prompt.wish.format);
  options.sentencepiece.as_transformers = wish.model_as == "transformers";
  options.tiktoken = {wish.split, wish.special_tokens};
  Result<std::unique_ptr<Tokenizer>> tokenizer = open_tokenizer(path, options);
  if (!tokenizer) return tokenizer;
  if (!wish.quiet) report_tokenizer_notes(path, own_notes((*tokenizer)->facts().notes, prompt, setup), wish.verbose);
  std::vector<SpecialToken>& known = setup.model.special_tokens;
  for (const NamedToken& token : (*tokenizer)->facts().named) {
    const bool has =
        std::any_of(known.begin(), known.end(), [&](const SpecialToken& t) { return t.name == token.name; });
    if (!has) known.push_back({token.name, token.text});
  }
  setup.open_reader();
  return tokenizer;
}

}  // namespace parlance::cli
