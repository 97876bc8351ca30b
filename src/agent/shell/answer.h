// Answer: what a resident program reports, in the form that resident.h describes.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parlance::agent {

struct Answer {
  std::string status, letters, folder, jobs;

  bool ends() const { return jobs == "ends"; }
  std::vector<int> job_numbers() const;
};

/// The last one with this token: an interruption may have cut off those before. Unset: it has not come, or not whole.
std::optional<Answer> answer_in(const std::string& received, const std::string& token);

/// The text with `value` wherever it has `word`.
std::string with_words(std::string text, std::string_view word, const std::string& value);

}  // namespace parlance::agent
