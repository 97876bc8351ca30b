// How much of the generated cases a run takes: PARLANCE_TEST_SHARE in the environment, one in so many; all where it is
// not set.
#pragma once
#include <cstdlib>

namespace parlance::testing {

inline std::size_t share() {
  const char* const given = std::getenv("PARLANCE_TEST_SHARE");
  const int number = given == nullptr ? 1 : std::atoi(given);
  return number > 1 ? static_cast<std::size_t>(number) : 1;
}

/// At least one of so many.
inline int share_of(int count) { return (count + static_cast<int>(share()) - 1) / static_cast<int>(share()); }

/// Whether so little is run that also what is not generated is tried at some places only: under sanitizers.
inline bool is_sparse() { return share() > 20; }

/// From one place in a text to the next that is tried: in make test every third is, and where little is run every 31st.
/// In make long all are, under sanitizers too.
inline std::size_t stride() { return is_sparse() ? 31 : share() > 10 ? 3 : 1; }

}  // namespace parlance::testing
