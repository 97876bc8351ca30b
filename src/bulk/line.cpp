// One line of a JSONL run. Begin reading at LineRenderer::render.
#include "bulk/line.h"

#include "conversation/edit.h"
#include "value/json.h"

namespace parlance {
namespace {

Error line_error(std::string message) { return Error(ErrorCode::conversation, std::move(message)); }

/// `settings` of a line: the options of Jinja2's environment that compile() knows.
void read_settings(const Value* settings, CompileOptions& options) {
  if (settings == nullptr) return;
  const Value* trim = member(*settings, "trim_blocks");
  const Value* lstrip = member(*settings, "lstrip_blocks");
  if (trim != nullptr && trim->is(Kind::boolean)) options.trim_blocks = trim->integer != 0;
  if (lstrip != nullptr && lstrip->is(Kind::boolean)) options.lstrip_blocks = lstrip->integer != 0;
}

}  // namespace

LineRenderer::LineRenderer(const BulkOptions& options) : options_(options) {
  if (options.on_loss == OnLoss::ignore) return;
  const LossOptions looking{.left_out = options.parts.spans};
  if (options.chat_template && *options.chat_template) finder_.emplace(**options.chat_template, looking);
  if (options.with_tools && *options.with_tools) finder_with_tools_.emplace(**options.with_tools, looking);
}

Result<void> LineRenderer::run(const Template& chat_template, const LossFinder* finder) {
  if (finder == nullptr) return chat_template.render(conversation_, options_.render, workspace_, checked_.rendering);
  if (Result<void> done = finder->render(conversation_, options_.render, workspace_, checked_); !done) return done;
  const bool fails = options_.on_loss == OnLoss::fail && count_lost(checked_.losses) != 0;
  return fails ? Result<void>(error_of(checked_.losses)) : Result<void>();
}

Result<void> LineRenderer::render_request(std::string_view line, Value& id) {
  if (Result<void> read = read_request(conversation_, line, "<input>", options_.request, id); !read)
    return read;
  const bool second = options_.with_tools.has_value() && has_tools(conversation_);
  const Result<Template>& chosen = second ? *options_.with_tools : *options_.chat_template;
  if (!chosen) return chosen.error();
  const std::optional<LossFinder>& finder = second ? finder_with_tools_ : finder_;
  return run(*chosen, finder ? &*finder : nullptr);
}

/// The context is written and read once more, so that its paths begin at the context.
Result<void> LineRenderer::render_own_source(std::string_view line, Value& id) {
  RequestOptions as_is;
  as_is.read.normalise = false;
  if (Result<void> read = read_request(outer_, line, "<input>", as_is, id); !read) return read;
  const Value* source = member(outer_.variables(), "source");
  const Value* context = member(outer_.variables(), "context");
  if (source == nullptr || !source->is_leaf())
    return line_error("a line without -t, -m or -f needs `source`, a template's text");
  if (context == nullptr || context->kind != Kind::dict)
    return line_error("`context` is not an object");
  context_.clear();
  Arena arena;
  Limits limits;
  limits.depth = 2000;
  Runtime rt(arena, limits);
  if (!append_json(rt, context_, *context))
    return line_error("`context` cannot be written as JSON");
  Value inner_id;
  if (Result<void> read =
          read_request(conversation_, context_, "<input>", options_.request, inner_id);
      !read)
    return read;
  CompileOptions compile = options_.compile;
  read_settings(member(outer_.variables(), "settings"), compile);
  const Result<Template> compiled = Template::compile(leaf_text(*source), compile);
  if (!compiled) return compiled.error();
  if (options_.on_loss == OnLoss::ignore) return run(*compiled, nullptr);
  const LossFinder finder(*compiled);
  return run(*compiled, &finder);
}

Result<void> LineRenderer::write() {
  members_.clear();
  if (options_.write) return options_.write(conversation_, checked_.rendering, members_);
  append_rendering(members_, conversation_, checked_, options_.parts);
  return {};
}

bool LineRenderer::render(std::string_view line, std::uint64_t number, std::string& out, LossCounts& lost) {
  if (options_.answer) return options_.answer(line, number, out);
  checked_.losses.clear();
  Value id;
  Result<void> done;
  if (line.size() > kMaxLine) {
    done = line_error("a line of more than " + std::to_string(kMaxLine >> 20) + " MiB");
  } else {
    done =
        options_.chat_template.has_value() ? render_request(line, id) : render_own_source(line, id);
  }
  lost.add(checked_.losses);
  if (done) done = write();
  out += '{';
  append_id(out, id);
  if (done) {
    out += members_;
  } else {
    append_error(out, done.error(), done.error().code() == ErrorCode::json ? number : 0);
  }
  out += "}\n";
  return done.has_value();
}

}  // namespace parlance
