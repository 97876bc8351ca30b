// parlance as an engine of the benchmark, in the way a server would use it: one workspace, one conversation and
// one rendering, kept and reused. `spans` as first argument also fills the spans of each rendering, `masks` those and
// the assistant's ranges.
#include <string_view>

#include "engine_process.h"
#include "parlance/parlance.h"

namespace {

enum class Fill { text, spans, masks };

class ParlanceEngine : public parlance::bench::Engine {
 public:
  explicit ParlanceEngine(Fill fill) {
    options_.as_is = true;
    options_.want_spans = fill != Fill::text;
    options_.want_assistant = fill == Fill::masks;
    options_.now = {2026, 3, 14, 15, 9, 26, 0};
    reading_.normalise = false;
  }
  std::string version() const override { return "this tree"; }

  bool load(parlance::bench::Job job) override {
    job_ = std::move(job);
    return compile() && read();
  }
  bool compile() override {
    parlance::CompileOptions options;
    options.syntax = parlance::syntax_of_file(job_.template_path);
    auto compiled = parlance::Template::compile(job_.template_text, options);
    if (!compiled) return fail(compiled.error().message());
    template_ = std::move(*compiled);
    return true;
  }
  bool render() override {
    auto done = template_->render(conversation_, options_, workspace_, rendering_);
    return done ? true : fail(done.error().message());
  }
  bool end_to_end() override { return read() && render(); }
  std::string_view output() const override { return rendering_.text(); }

 private:
  bool read() {
    auto done = conversation_.read(job_.context, reading_);
    return done ? true : fail(done.error().message());
  }

  parlance::bench::Job job_;
  parlance::ReadOptions reading_;
  parlance::RenderOptions options_;
  std::optional<parlance::Template> template_;
  parlance::Conversation conversation_;
  parlance::Workspace workspace_;
  parlance::Rendering rendering_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  const Fill fill = wanted == "spans" ? Fill::spans : wanted == "masks" ? Fill::masks : Fill::text;
  const int taken = fill == Fill::text ? 0 : 1;
  ParlanceEngine engine(fill);
  return parlance::bench::engine_main(engine, argc - taken, argv + taken);
}
