// The command loop and the clock of a C++ engine process.
//
// A metric is timed in samples: so many operations back to back that a sample lasts at least 20 µs,
// so that reading the clock does not count. How many these are is found after the first operations,
// which fill caches and take long. The answer is the median of the samples. Leans on simdjson for
// the commands. Start with serve().
#include "engine_process.h"

#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>
#include <vector>

namespace parlance::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Operation = bool (Engine::*)();

constexpr double kSampleNs = 20'000;
constexpr double kWarmNs = 2'000'000;
constexpr size_t kMinSamples = 3;

struct Timing {
  double ns_per_op = 0;
  size_t ops = 0;
  bool ok = false;
};

struct FileText {
  std::string text;
  bool ok = false;
};

FileText read_file(std::string_view path) {
  std::ifstream in(std::string(path), std::ios::binary);
  if (!in) return {};
  return {std::string(std::istreambuf_iterator<char>(in), {}), true};
}

double ns_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::nano>(to - from).count();
}

/// Runs `op` `count` times; the whole duration in nanoseconds, negative when it failed.
double run_batch(Engine& engine, Operation op, size_t count) {
  const auto start = Clock::now();
  for (size_t i = 0; i < count; ++i) {
    if (!(engine.*op)()) return -1;
  }
  return ns_between(start, Clock::now());
}

/// How many operations make a sample; 0 when one failed. A batch that is long only because it was the first, or was
/// interrupted, does not count: it has to be long twice.
size_t batch_of(Engine& engine, Operation op) {
  for (double warm = 0; warm < kWarmNs;) {
    const double ns = run_batch(engine, op, 1);
    if (ns < 0) return 0;
    warm += ns;
  }
  for (size_t batch = 1;; batch *= 2) {
    const double ns = std::min(run_batch(engine, op, batch), run_batch(engine, op, batch));
    if (ns < 0) return 0;
    if (ns >= kSampleNs) return batch;
  }
}

Timing measure(Engine& engine, Operation op, double min_ns) {
  Timing timing;
  const size_t batch = batch_of(engine, op);
  if (batch == 0) return timing;
  std::vector<double> samples;
  for (double total = 0; total < min_ns || samples.size() < kMinSamples;) {
    const double ns = run_batch(engine, op, batch);
    if (ns < 0) return timing;
    total += ns;
    samples.push_back(ns / static_cast<double>(batch));
    timing.ops += batch;
  }
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  timing.ns_per_op = *middle;
  timing.ok = true;
  return timing;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

void answer(const std::string& fields) {
  std::printf("{%s}\n", fields.c_str());
  std::fflush(stdout);
}

void answer_ok_or(const std::string& wrong) {
  answer(wrong.empty() ? "\"ok\":true" : "\"error\":" + json_string(wrong));
}

std::string_view field(simdjson::dom::object command, std::string_view name) {
  std::string_view value;
  return command[name].get(value) == simdjson::SUCCESS ? value : std::string_view();
}

/// Empty, or what is wrong.
std::string load(Engine& engine, simdjson::dom::object command) {
  Job job;
  job.template_path = field(command, "template");
  FileText source = read_file(job.template_path);
  FileText context = read_file(field(command, "context"));
  if (!source.ok || !context.ok) return "the template or the context cannot be read";
  job.template_text = std::move(source.text);
  job.context = std::move(context.text);
  job.expected = read_file(field(command, "expected")).text;
  return engine.load(std::move(job)) ? "" : engine.wrong();
}

void bench(Engine& engine, simdjson::dom::object command) {
  const std::string_view metric = field(command, "metric");
  double min_ms = 0;
  if (command["min_ms"].get(min_ms) != simdjson::SUCCESS) min_ms = 50;
  Operation op = nullptr;
  if (metric == "compile") op = &Engine::compile;
  if (metric == "render") op = &Engine::render;
  if (metric == "e2e") op = &Engine::end_to_end;
  if (op == nullptr) return answer_ok_or("the metric is none of compile, render, e2e");
  const Timing timing = measure(engine, op, min_ms * 1e6);
  if (!timing.ok) return answer_ok_or(engine.wrong());
  char text[96];
  std::snprintf(text, sizeof text, "\"ns_per_op\":%.3f,\"ops\":%zu", timing.ns_per_op, timing.ops);
  answer(text);
}

/// Empty, or what is wrong.
std::string write_output(Engine& engine, std::string_view path) {
  if (!engine.end_to_end()) return engine.wrong();
  std::ofstream out(std::string(path), std::ios::binary);
  out << engine.output();
  out.close();
  return out ? "" : "the output cannot be written";
}

void obey(Engine& engine, simdjson::dom::object command) {
  const std::string_view name = field(command, "cmd");
  if (name == "hello") return answer("\"version\":" + json_string(engine.version()));
  if (name == "load") return answer_ok_or(load(engine, command));
  if (name == "bench") return bench(engine, command);
  if (name == "output") return answer_ok_or(write_output(engine, field(command, "to")));
  answer_ok_or("the command is none of hello, load, bench, output");
}

}  // namespace

int serve(Engine& engine) {
  simdjson::dom::parser parser;
  std::string line;
  while (std::getline(std::cin, line)) {
    simdjson::dom::object command;
    if (parser.parse(line).get(command) != simdjson::SUCCESS) {
      answer_ok_or("the command is not a JSON object");
    } else {
      obey(engine, command);
    }
  }
  return 0;
}

int render_once(Engine& engine, const char* template_path, const char* context_path) {
  FileText source = read_file(template_path);
  FileText context = read_file(context_path);
  if (!source.ok || !context.ok) {
    std::fprintf(stderr, "the template or the context cannot be read\n");
    return 1;
  }
  if (!engine.load({template_path, std::move(source.text), std::move(context.text), ""}) || !engine.render()) {
    std::fprintf(stderr, "%s\n", engine.wrong().c_str());
    return 1;
  }
  std::fwrite(engine.output().data(), 1, engine.output().size(), stdout);
  return 0;
}

int engine_main(Engine& engine, int argc, char** argv) {
  if (argc == 1) return serve(engine);
  if (argc == 5 && !std::strcmp(argv[1], "render") && !std::strcmp(argv[2], "-t")) {
    return render_once(engine, argv[3], argv[4]);
  }
  std::fprintf(stderr, "usage: [render -t TEMPLATE CONTEXT.json]\n");
  return 2;
}

}  // namespace parlance::bench
