// Writes counts in Prometheus' text format.
#include "serve/metrics.h"

#include "serve/json/plain.h"

namespace parlance::serve {

namespace {

void write_head(std::string& out, std::string_view name, std::string_view help, std::string_view type) {
  out.append("# HELP parlance_").append(name).append(" ").append(help);
  out.append("\n# TYPE parlance_").append(name).append(" ").append(type).append("\n");
}

void write_line(std::string& out, std::string_view name, std::string_view behind, const std::string& value) {
  out.append("parlance_").append(name).append(behind).append(" ").append(value).append("\n");
}

}  // namespace

void Histogram::add(double seconds) {
  std::size_t at = 0;
  while (at < kBounds.size() && seconds > kBounds[at]) ++at;
  ++counts_[at];
  microseconds_ += static_cast<std::uint64_t>(seconds * 1e6);
}

void Histogram::write(std::string& out, std::string_view name, std::string_view help) const {
  write_head(out, name, help, "histogram");
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < kBounds.size(); ++at) {
    sum += counts_[at];
    write_line(out, name, "_bucket{le=\"" + real_json(kBounds[at]) + "\"}", std::to_string(sum));
  }
  sum += counts_.back();
  write_line(out, name, "_bucket{le=\"+Inf\"}", std::to_string(sum));
  write_line(out, name, "_sum", real_json(static_cast<double>(microseconds_) / 1e6));
  write_line(out, name, "_count", std::to_string(sum));
}

void Counter::add(const std::string& labels, std::uint64_t by) {
  const std::lock_guard lock(mutex_);
  counts_[labels] += by;
}

void Counter::write(std::string& out, std::string_view name, std::string_view help) const {
  write_head(out, name, help, "counter");
  const std::lock_guard lock(mutex_);
  for (const auto& [labels, count] : counts_) {
    write_line(out, name, labels.empty() ? "" : "{" + labels + "}", std::to_string(count));
  }
}

std::string Metrics::text() const {
  std::string out;
  requests.write(out, "requests_total", "Requests by route and status.");
  tokens.write(
      out, "tokens_total",
      "Tokens by kind: of prompts, of these those of earlier turns, those that the engine evaluated, those sampled.");
  prefix_breaks.write(out, "prefix_breaks_total",
                      "Turns whose prompt does not begin with the ids of the turn before, by cause.");
  engine_failures.write(out, "engine_failures_total", "Failures of engines by kind.");
  refusals.write(out, "refusals_total", "Requests that do not fit the engine or its queue, by the code of the error.");
  malformed.write(out, "malformed_total", "Malformed parts of replies, by kind of fault.");
  losses.write(out, "losses_total",
               "What requests asked for and did not get, where it is known or was looked for, by kind.");
  guarded.write(out, "guarded_total", "Texts in requests that look like control tokens and were encoded as text.");
  prepare.write(out, "prepare_seconds", "From the last byte of a request to the request to the engine.");
  first_token.write(out, "first_token_seconds", "From the request to the engine to its first token.");
  whole.write(out, "request_seconds", "From the last byte of a request to the last byte of its answer.");
  return out;
}

void write_gauge(std::string& out, std::string_view name, std::string_view help, double value) {
  write_head(out, name, help, "gauge");
  write_line(out, name, "", real_json(value));
}

void write_gauges(std::string& out, std::string_view name, std::string_view help,
                  const std::map<std::string, double>& values) {
  write_head(out, name, help, "gauge");
  for (const auto& [labels, value] : values) write_line(out, name, "{" + labels + "}", real_json(value));
}

}  // namespace parlance::serve
