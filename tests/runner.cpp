// Runs the case files, and demands one for everything that a table lists.
//
//     runner ROOT [--accept] [--no-coverage] [ID-PREFIX...]
//
// ROOT is tests/cases. Prints each difference and a count. --accept writes what came out into the cases that have no
// `oracle` line. A builtin without a case, an error code or a limit without one, and a builtin row whose own example is
// not what it says, are failures too. Begin reading at main.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "case_run.h"
#include "gotemplate/functions.h"
#include "jinja/objects/builtins.h"
#include "jinja/objects/methods.h"

namespace parlance::testing {
namespace {

namespace fs = std::filesystem;

struct Report {
  std::size_t run = 0;
  std::size_t wrong = 0;
  std::size_t accepted = 0;
  std::size_t differ = 0;     ///< knowingly
  std::set<ErrorCode> codes;  ///< that a case ended with, as it wanted

  void fault(const std::string& who, const std::string& what) {
    ++wrong;
    std::printf("%s\n%s%s", who.c_str(), what.c_str(), what.ends_with('\n') ? "" : "\n");
  }
};

std::string place(const Case& c) {
  return c.path.lexically_normal().string() + ":" + std::to_string(c.line) + " " + c.id;
}

/// True if the case's file was rewritten.
bool run_one(const Case& c, bool accept, Report& report) {
  ++report.run;
  std::string fault;
  const Outcome outcome = run_case(c, fault);
  std::string difference = fault.empty() ? compare(c, outcome) : "  " + fault;
  if (c.headers.contains("differs") && fault.empty()) {
    ++report.differ;
    difference =
        difference.empty() ? "  is right now: its line `differs` can go, and its row in COMPATIBILITY.md\n" : "";
  }
  if (difference.empty()) {
    if (outcome.error && !c.headers.contains("differs")) report.codes.insert(outcome.error->code());
    return false;
  }
  if (accept && fault.empty() && !c.headers.contains("oracle")) {
    replace_expectation(c, write_expectation(outcome));
    ++report.accepted;
    std::printf("%s\n  accepted\n", place(c).c_str());
    return true;
  }
  report.fault(place(c), difference);
  return false;
}

bool is_wanted(const Case& c, const std::vector<std::string>& prefixes) {
  return prefixes.empty() ||
         std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return c.id.starts_with(p); });
}

/// Files are read again after one case was rewritten, because lines move.
void run_cases(const fs::path& root, bool accept, const std::vector<std::string>& prefixes, Report& report) {
  std::vector<std::string> faults;
  std::vector<Case> cases = find_cases(root, root, faults);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (is_wanted(cases[i], prefixes) && run_one(cases[i], accept, report)) cases = find_cases(root, root, faults);
  }
  for (const std::string& fault : faults) report.fault(fault, "");
}

/// "{{ … }} -> output": runs the left side and compares. A failure is written "Class" or "Class: message".
void run_example(const Builtin& row, const std::string& who, Report& report, Syntax syntax = Syntax::jinja,
                 bool allow_changes = false) {
  const std::size_t arrow = row.example.rfind(" -> ");
  if (arrow == row.example.npos) return report.fault(who, "  has no example with a result");
  ++report.run;
  Settings settings;
  read_settings("", settings);
  settings.compile.syntax = syntax;
  settings.compile.allow_changes = allow_changes;
  // With a prompt and a suffix a Go template is run whole, whatever it mentions.
  const std::string_view context = syntax == Syntax::go ? R"({"prompt": "p", "suffix": "s"})" : "{}";
  const Outcome outcome = run_template(row.example.substr(0, arrow), context, settings);
  const std::string failure = outcome.error ? std::string(outcome.error->python_class()) : "";
  const std::string got = outcome.error ? failure + ": " + outcome.error->message() : outcome.text;
  const std::string_view wanted = row.example.substr(arrow + 4);
  if (got == wanted || (outcome.error && failure == wanted)) return;
  report.fault(who, "  example " + std::string(row.example) + "\n  gives " + got);
}

std::vector<std::string> names_of(const Builtin& row) {
  std::vector<std::string> names{std::string(row.name)};
  for (std::string_view rest = row.aliases; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (end > 0) names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

bool is_word(const std::string& name) { return std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_'; }

/// A filter, test or global has a file for each of its names that is a word.
void demand_files(const fs::path& folder, std::span<const Builtin> rows, Report& report) {
  for (const Builtin& row : rows) {
    for (const std::string& name : names_of(row)) {
      if (is_word(name) && !fs::exists(folder / (name + ".case"))) {
        report.fault((folder / (name + ".case")).string(), "  is missing");
      }
    }
    run_example(row, folder.filename().string() + " " + std::string(row.name), report);
  }
}

/// A method has TYPE_METHOD.case, or a case in a file of its type calls it; one that changes its object, with the
/// setting that lets it.
void demand_method(const std::vector<Case>& cases, const jinja::MethodTable& table, const Builtin& row,
                   Report& report) {
  const std::string prefix = "jinja/methods/" + std::string(table.type) + "_";
  const std::string called = "." + std::string(row.name);
  const bool found = std::any_of(cases.begin(), cases.end(), [&](const Case& c) {
    const std::string* settings = c.find("settings");
    const bool changes = settings != nullptr && settings->find("allow_changes") != std::string::npos;
    return c.id.starts_with(prefix) && changes == table.needs_allow_changes &&
           c.text("template").value_or("").find(called) != std::string::npos;
  });
  if (!found) report.fault(prefix + std::string(row.name) + ".case", "  is missing, and no other file has a case");
}

void demand_methods(const fs::path& root, Report& report) {
  std::vector<std::string> faults;
  const std::vector<Case> cases = find_cases(root, root / "jinja" / "methods", faults);
  for (const jinja::MethodTable& table : jinja::method_tables()) {
    for (const Builtin& row : table.rows) {
      const std::string who = "method " + std::string(table.type) + "." + std::string(row.name);
      demand_method(cases, table, row, report);
      run_example(row, who, report, Syntax::jinja, table.needs_allow_changes);
    }
  }
}

void demand_functions(const fs::path& folder, Report& report) {
  for (const gotemplate::Function& function : gotemplate::function_table()) {
    const fs::path file = folder / (std::string(function.row.name) + ".case");
    if (!fs::exists(file)) report.fault(file.string(), "  is missing");
    run_example(function.row, "function " + std::string(function.row.name), report, Syntax::go);
  }
}

void demand_everything(const fs::path& root, Report& report) {
  demand_functions(root / "go" / "functions", report);
  for (std::span<const Builtin> table : jinja::filter_tables()) demand_files(root / "jinja" / "filters", table, report);
  demand_files(root / "jinja" / "tests", jinja::test_table(), report);
  demand_files(root / "jinja" / "globals", jinja::global_table(), report);
  demand_methods(root, report);
  constexpr ErrorCode kCodes[] = {
#define PARLANCE_ERROR(code, python_class, title, http, exit, sentence) ErrorCode::code,
#include "parlance/errors.def"
#undef PARLANCE_ERROR
  };
  // A case has no tokenizer, and renders without a look at losses: tests/unit/tokens_test.cpp,
  // tests/cli/run_losses_tests.py and those of tests/cli end with these.
  const std::set<ErrorCode> of_others = {ErrorCode::tokenizer, ErrorCode::history_rewritten, ErrorCode::loss,
                                         ErrorCode::unencodable, ErrorCode::too_many_tokens};
  for (ErrorCode code : kCodes) {
    if (!report.codes.contains(code) && !of_others.contains(code)) {
      report.fault("errors.def: " + std::string(facts(code).name), "  no case ends with it");
    }
  }
}

int run(const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  bool accept = false, coverage = true;
  for (const std::string& argument : arguments) {
    accept = accept || argument == "--accept";
    coverage = coverage && argument != "--no-coverage";
    if (!argument.starts_with("--")) words.push_back(argument);
  }
  if (words.empty()) return std::puts("usage: runner ROOT [--accept] [--no-coverage] [ID-PREFIX...]"), 2;
  fs::current_path(words.front());  // so that no path of this machine gets into an expectation
  const fs::path root = ".";
  words.erase(words.begin());
  Report report;
  run_cases(root, accept, words, report);
  if (coverage && words.empty()) demand_everything(root, report);
  std::printf("%zu cases and examples, %zu wrong, %zu knowingly different, %zu accepted\n", report.run, report.wrong,
              report.differ, report.accepted);
  return report.wrong == 0 && report.run > 0 ? 0 : 1;
}

}  // namespace
}  // namespace parlance::testing

int main(int argc, char** argv) { return parlance::testing::run({argv + 1, argv + argc}); }
