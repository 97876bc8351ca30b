// Tests the laws of a template and its reply format on generated conversations. Each law holds, or has a
// counter-example.
//
//     auto report = parlance::check(*chat_template);
//     if (!report) return fail(report.error());
//     for (const parlance::LawResult& law : report->laws) show(law);
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/derive.h"

namespace parlance {

/// A law, as `parlance check --list` shows it.
struct LawInfo {
  std::string_view name;      ///< "read-back"
  std::string_view sentence;  ///< what must hold
};
std::span<const LawInfo> laws();

/// The result of testing one law.
struct LawResult {
  enum class Outcome : std::uint8_t {
    holds,
    broken,          ///< `example` shows it
    does_not_apply,  ///< this template has nothing to test, such as no tags for a law of tags; `example` says why
    untried,         ///< it could not be tested; `example` says why
  };
  std::string_view law;
  Outcome outcome = Outcome::untried;
  std::size_t tried = 0;  ///< number of conversations or replies
  std::string example{};  ///< broken: the request, the reply, and what was found
};
std::string_view name_of(LawResult::Outcome outcome);

struct CheckReport {
  DerivedFormat derived;
  std::vector<LawResult> laws;
  /// True if the verdict is `verified` and no law is broken or untried.
  bool holds() const;
};

/// Options of check().
///
///     field     default       effect
///     derive    see DeriveOptions; if it has a format, that one is tested
///     count     200           conversations generated for each law
///     seed      1             the generator's seed: the same seed gives the same conversations
///     stopped   unset         asked behind each conversation: true ends the check, which then fails with
///     python_runtime
struct CheckOptions {
  DeriveOptions derive{};
  std::size_t count = 200;
  std::uint64_t seed = 1;
  std::function<bool()> stopped{};
};

/// Tests every law on a template. Fails as derive() does.   Threads: any.
Result<CheckReport> check(const Template& chat_template, const CheckOptions& options = {});

}  // namespace parlance
