// Reads the fields of an answer, each of which has a zero behind it.
#include "agent/shell/answer.h"

#include <cstdlib>

namespace parlance::agent {

std::vector<int> Answer::job_numbers() const {
  std::vector<int> numbers;
  for (const char* at = jobs.c_str(); *at != 0;) {
    char* end = nullptr;
    const long number = std::strtol(at, &end, 10);
    if (end == at) break;
    numbers.push_back(static_cast<int>(number));
    at = end;
  }
  return numbers;
}

std::optional<Answer> answer_in(const std::string& received, const std::string& token) {
  std::size_t from = received.rfind(token + '\0');
  if (from == std::string::npos) return std::nullopt;
  from += token.size() + 1;
  Answer answer;
  for (std::string* field : {&answer.status, &answer.letters, &answer.folder, &answer.jobs}) {
    const std::size_t to = received.find('\0', from);
    if (to == std::string::npos) return std::nullopt;
    *field = received.substr(from, to - from);
    from = to + 1;
  }
  if (answer.folder.ends_with('\n')) answer.folder.pop_back();
  return answer;
}

std::string with_words(std::string text, std::string_view word, const std::string& value) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + value.size()))
    text.replace(at, word.size(), value);
  return text;
}

}  // namespace parlance::agent
