// Lines of requests, rendered. Begin reading at LineRenderer::answer.
#include <memory>
#include <optional>

#include "json/json.h"
#include "parlance/bulk.h"
#include "parlance/json.h"

namespace parlance {
namespace {

constexpr std::size_t kLong = 1 << 20;

Error line_error(std::string message) { return Error(ErrorCode::conversation, std::move(message)); }

/// `settings` of a line: the options of Jinja2's environment that compile() knows.
void read_settings(Value settings, CompileOptions& options) {
  const Value trim = settings["trim_blocks"], lstrip = settings["lstrip_blocks"];
  if (trim.is(Kind::boolean)) options.trim_blocks = trim.integer != 0;
  if (lstrip.is(Kind::boolean)) options.lstrip_blocks = lstrip.integer != 0;
}

/// What one thread needs to render lines, with memory that is kept from line to line.
class LineRenderer {
 public:
  LineRenderer(const RequestReader& reader, const BulkRendering& rendering)
      : reader_(reader), rendering_(rendering), looking_{.left_out = rendering.members.spans} {}

  Result<void> answer(const BulkLine& line, BulkAnswer& answer) {
    checked_.losses.clear();
    Result<void> done = rendering_.own_templates ? render_own(line.text, answer.id) : render(line.text, answer.id);
    if (done) done = write(answer.members);
    answer.dropped = answer.members.empty();
    answer.lost.add(checked_.losses);
    const bool fails = done && rendering_.on_loss == OnLoss::fail && count_lost(checked_.losses) != 0;
    if (fails) done = error_of(checked_.losses);
    if (line.text.size() + checked_.rendering.text().size() > kLong) forget();
    return done;
  }

 private:
  // The id is known even if reading fails, so that an error's line can be told by it.
  Result<void> render(std::string_view line, std::string& id) {
    const Result<void> read = reader_.read_into(request_, line);
    id = request_.id;
    if (!read) return read;
    const bool with_tools = has_tools(request_.conversation);
    const Result<Template>& chosen = reader_.chat_template(with_tools);
    if (!chosen) return chosen.error();
    std::optional<LossFinder>& finder = finders_[with_tools ? 1 : 0];
    if (looks() && !finder) finder.emplace(*chosen, looking_);
    return run(*chosen, finder ? &*finder : nullptr);
  }

  /// The context is written and read once more, so that its paths begin at the context.
  Result<void> render_own(std::string_view line, std::string& id) {
    Document document;
    if (Result<void> parsed = document.parse(line); !parsed) return parsed;
    const Value whole = document.root();
    if (!whole.is(Kind::dict)) return line_error("the request is JSON, but not an object");
    const Value own_id = whole["id"], source = whole["source"], context = whole["context"];
    if (!own_id.is_undefined()) id = strict_json_text(own_id);
    if (!source.is_string()) return line_error("a line needs `source`, the text of its own template");
    if (!context.is(Kind::dict)) return line_error("`context` is not an object");
    if (Result<void> read = reader_.read_into(request_, json_text(context)); !read) return read;
    CompileOptions compile = reader_.options().compile;
    read_settings(whole["settings"], compile);
    const Result<Template> compiled = Template::compile(source.text(), compile);
    if (!compiled) return compiled.error();
    if (!looks()) return run(*compiled, nullptr);
    const LossFinder finder(*compiled);
    return run(*compiled, &finder);
  }

  Result<void> run(const Template& chat_template, const LossFinder* finder) {
    const Conversation& conversation = request_.conversation;
    if (finder == nullptr) return chat_template.render(conversation, rendering_.render, workspace_, checked_.rendering);
    return finder->render(conversation, rendering_.render, workspace_, checked_);
  }

  Result<void> write(std::string& members) {
    if (rendering_.write) return rendering_.write(request_.conversation, checked_, members);
    append_rendering(members, request_.conversation, checked_, rendering_.members);
    return {};
  }
  /// A long line's memory is given back: else each thread would keep that of the longest that it met.
  void forget() {
    request_ = {};
    workspace_ = {};
    checked_ = {};
  }
  bool looks() const { return rendering_.on_loss != OnLoss::ignore; }

  const RequestReader& reader_;
  const BulkRendering& rendering_;
  const LossOptions looking_;
  ChatRequest request_;
  Workspace workspace_;
  CheckedRendering checked_;
  std::optional<LossFinder> finders_[2];  ///< for requests without and with tools
};

}  // namespace

Result<BulkProgress> render_lines(const BulkInput& input, const BulkOutput& output, const RequestReader& reader,
                                  const BulkRendering& rendering, const BulkOptions& options) {
  const auto make_worker = [&]() -> BulkWorker {
    auto renderer = std::make_shared<LineRenderer>(reader, rendering);
    return [renderer](const BulkLine& line, BulkAnswer& answer) { return renderer->answer(line, answer); };
  };
  return answer_lines(input, output, make_worker, options);
}

}  // namespace parlance
