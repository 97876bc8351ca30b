// The laws of a template and its format of replies, tried with generated conversations: pass, or a counter-example each.
//
//     auto report = parlance::check(*chat_template);
//     if (!report) return fail(report.error());
//     for (const parlance::LawResult& law : report->laws) show(law);
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/derive.h"

namespace parlance {

/// One law, for `parlance check --list`.
struct LawInfo {
  std::string_view name;      ///< "read-back"
  std::string_view sentence;  ///< what holds
};
std::span<const LawInfo> laws();

/// What came of trying a law.
struct LawResult {
  enum class Outcome : std::uint8_t {
    holds,
    broken,          ///< `example` shows it
    does_not_apply,  ///< it says nothing about this template, as a law of tags where there are none; `example` says why
    untried,         ///< it could not be tried, so that nobody knows; `example` says why
  };
  std::string_view law;
  Outcome outcome = Outcome::untried;
  std::size_t tried = 0;    ///< conversations or replies
  std::string example{};    ///< broken: the request and the reply, and what was found
};
std::string_view name_of(LawResult::Outcome outcome);

struct CheckReport {
  DerivedFormat derived;
  std::vector<LawResult> laws;
  /// The verdict is verified, and every law holds that applies: none is broken, none is untried.
  bool holds() const;
};

/// Options of check().
///
///     field     default       effect
///     derive    see DeriveOptions; its format is tried where it has one
///     count     200           conversations generated for each law
///     seed      1             where the generator begins: the same seed gives the same conversations
struct CheckOptions {
  DeriveOptions derive{};
  std::size_t count = 200;
  std::uint64_t seed = 1;
};

/// Tries every law on a template. Fails as derive() does.   Threads: any.
Result<CheckReport> check(const Template& chat_template, const CheckOptions& options = {});

}  // namespace parlance
