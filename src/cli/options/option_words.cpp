// Hints in the words of the command line; see option_words.h. Begin reading at kWords.
#include "cli/options/option_words.h"

#include <algorithm>
#include <utility>

namespace parlance::cli {
namespace {

/// In this order: what stands below may be a part of what stands above.
constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"the option allow_changes", "--allow-changes"},
    {"the option as_transformers", "--model-as transformers"},
    {"the option continue_final", "--continue"},
    {"the option normalise off", "--as-is"},
    {"the option split", "--split"},
    {"without the pass ", "with --skip-pass "},
    {"without a pass ", "with --skip-pass NAME "},
    {"the pass ", "--pass "},
    {"builtin_formats() has them", "parlance list formats shows them"},
    {"normalise_passes() has them", "parlance list passes shows them"},
    {"open_template_file() takes", "-t takes"},
    {"stands in `request`: give that alone", "stands in `request`; parlance convert --bare writes it alone"},
    {"open the model to have its tokens", "-m MODEL brings its tokens along"},
    {"a grammar makes", "parlance grammar --request makes"},
    {"another template is given beside the request", "parlance render -t FILE renders with another template"},
    {"choose one by its name", "choose one with --name"},
    {"a list of requests: each is read by itself", "a list of requests: --jsonl takes them, one on a line"},
    {"each line is a request of its own: give them one by one", "with --jsonl each line is a request"},
    {"escapes without a partner", "escapes without a partner; parlance render --json shows the prompt"},
};

/// "set the variable eos_token" is "--var eos_token=TEXT sets it".
void name_variable(std::string& hint) {
  constexpr std::string_view kSet = "set the variable ";
  const std::size_t at = hint.find(kSet);
  if (at == hint.npos) return;
  hint.insert(std::min(hint.find_first_of(" ;,", at + kSet.size()), hint.size()), "=TEXT sets it");
  hint.replace(at, kSet.size(), "--var ");
}

}  // namespace

std::string in_options(std::string_view hint) {
  std::string said(hint);
  for (const auto& [words, options] : kWords) {
    const std::size_t at = said.find(words);
    if (at != said.npos) said.replace(at, words.size(), options);
  }
  name_variable(said);
  return said;
}

Error in_options(const Error& error) {
  std::string hint = in_options(error.hint());
  return hint == error.hint() ? error : error.hint(std::move(hint));
}

std::vector<Loss> in_options(std::vector<Loss> losses) {
  for (Loss& loss : losses) loss.hint = in_options(loss.hint);
  return losses;
}

}  // namespace parlance::cli
