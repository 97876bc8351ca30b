// What the gateway counts, and its text for Prometheus (/metrics).
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace parlance::serve {

/// Counts durations in seconds by upper bounds. Threads: any.
class Histogram {
 public:
  static constexpr std::array<double, 13> kBounds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                     0.05,   0.25,    1,      5,     30,     120};
  void add(double seconds);
  void write(std::string& out, std::string_view name, std::string_view help) const;

 private:
  std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> counts_{};
  std::atomic<std::uint64_t> microseconds_{};
};

/// Counts by a label, such as a route and a status. Threads: any.
class Counter {
 public:
  void add(const std::string& labels, std::uint64_t by = 1);
  void write(std::string& out, std::string_view name, std::string_view help) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> counts_;
};

struct Metrics {
  Counter requests;         ///< route, status
  Counter tokens;           ///< kind: prompt, reused, evaluated, sampled
  Counter prefix_breaks;    ///< cause
  Counter engine_failures;  ///< kind
  Counter refusals;         ///< code: requests that no engine was to answer
  Counter malformed;        ///< fault
  Counter losses;           ///< kind: parts of requests that did not get to the model, where they were looked for
  Counter guarded;          ///< texts in requests that were not allowed to become control tokens
  Histogram prepare;        ///< from a request's last byte to the engine
  Histogram first_token;    ///< from there to the first token
  Histogram whole;          ///< requests

  std::string text() const;
};

/// A gauge of one value, in the same format.
void write_gauge(std::string& out, std::string_view name, std::string_view help, double value);
/// A gauge by a label.
void write_gauges(std::string& out, std::string_view name, std::string_view help,
                  const std::map<std::string, double>& values);

}  // namespace parlance::serve
