// The C++ side of the benchmark's protocol: an Engine is measured by serve().
//
// An engine implements the five operations below; serve() reads commands as JSON lines on standard
// input, times the operations inside the process and answers with JSON lines on standard output.
// The protocol is described in README.md beside this file. Start with the class Engine.
#ifndef PARLANCE_BENCH_ENGINE_PROCESS_H_
#define PARLANCE_BENCH_ENGINE_PROCESS_H_

#include <string>
#include <string_view>

namespace parlance::bench {

/// The files of one cell, read into memory before anything is timed.
struct Job {
  std::string template_path;
  std::string template_text;
  std::string context;   ///< JSON text, as a request's body arrives
  std::string expected;  ///< the reference's output; empty where there is none
};

/// One engine. An operation returns false when it fails, after setting wrong_ to one sentence.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string version() const = 0;
  /// Takes the job over and gets ready for every metric: compiles the template, parses the context.
  virtual bool load(Job job) = 0;
  virtual bool compile() = 0;
  /// Renders the context parsed by load(); the prompt is in output() afterwards.
  virtual bool render() = 0;
  /// From the JSON text to the prompt, with the compiled template of load().
  virtual bool end_to_end() = 0;
  virtual std::string_view output() const = 0;

  const std::string& wrong() const { return wrong_; }

 protected:
  bool fail(std::string_view sentence) {
    wrong_ = sentence;
    return false;
  }

  std::string wrong_;
};

/// Answers commands until standard input ends. Returns the process's exit code.
int serve(Engine& engine);

/// `render -t TEMPLATE CONTEXT`: prints the prompt once. Returns the process's exit code.
int render_once(Engine& engine, const char* template_path, const char* context_path);

/// The main() of every engine: `render -t T C` or, without arguments, serve().
int engine_main(Engine& engine, int argc, char** argv);

}  // namespace parlance::bench

#endif  // PARLANCE_BENCH_ENGINE_PROCESS_H_
