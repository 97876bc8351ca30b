// parlance serve: the gateway in front of engines. Begin reading at run_serve.
#include <cstdio>

#include "cli/commands.h"
#include "cli/options/options.h"
#include "cli/options/serve_options.h"
#include "cli/options/toml_options.h"
#include "cli/report.h"

namespace parlance::cli {
namespace {

struct ServeCommand {
  ServerWish server;
  ModelWish model;
  std::string config;
};

/// What the command line and the configuration file ask for together.
struct WholeWish {
  ServerWish server;
  std::vector<ModelWish> models;
};

/// The command line goes before the file, which is read again at each reload. `given`: options of the command line.
Result<WholeWish> whole_wish(const ServeCommand& line, const std::vector<std::string>& given) {
  ServeCommand command = line;
  WholeWish whole;
  if (!line.config.empty()) {
    const Result<TomlOptions> file = read_toml(line.config, "model");
    if (!file) return file.error();
    OptionSet set;
    Options options = set.options();
    declare_server(options, command.server);
    declare_model(options, command.model);
    if (Result<void> applied = apply(file->whole, options, given); !applied) return applied.error();
    for (const std::vector<TomlOption>& table : file->tables) {
      OptionSet one;
      Options of_model = one.options();
      whole.models.emplace_back();
      declare_model(of_model, whole.models.back());
      if (Result<void> applied = apply(table, of_model, {}, options.long_names()); !applied) return applied.error();
    }
  }
  if (whole.models.empty() || command.model.served.prompt.wish.any())
    whole.models.insert(whole.models.begin(), command.model);
  whole.server = std::move(command.server);
  return whole;
}

Result<std::vector<serve::ModelOptions>> open_models(std::vector<ModelWish>&& wishes) {
  std::vector<serve::ModelOptions> models;
  for (ModelWish& wish : wishes) {
    Result<serve::ModelOptions> model = open_model(std::move(wish));
    if (!model) return model.error();
    for (const serve::ModelOptions& other : models) {
      if (other.name == model->name)
        return usage("two models are called '" + model->name + "'", "give one another --model-name");
    }
    models.push_back(std::move(*model));
  }
  return models;
}

/// What a reload may change. The rest of the server's options stays as it was at the start.
Result<serve::Reloaded> reloaded(const ServeCommand& line, const std::vector<std::string>& given,
                                 const ServerWish& started) {
  Result<WholeWish> whole = whole_wish(line, given);
  if (!whole) return whole.error();
  Result<serve::ServeOptions> options = server_options(whole->server);
  if (!options) return options.error();
  Result<std::vector<serve::ModelOptions>> models = open_models(std::move(whole->models));
  if (!models) return models.error();
  return serve::Reloaded{.models = std::move(*models),
                         .api_keys = std::move(options->api_keys),
                         .ignored = changed_options(started, whole->server)};
}

int run_serve(const ServeCommand& command, const std::vector<std::string>& given) {
  Result<WholeWish> whole = whole_wish(command, given);
  if (!whole) return report(whole.error());
  Result<serve::ServeOptions> options = server_options(whole->server);
  if (!options) return report(options.error());
  Result<std::vector<serve::ModelOptions>> models = open_models(std::move(whole->models));
  if (!models) return report(models.error());
  options->listening = [](const std::string& url) {
    std::printf("%s\n", url.c_str());
    std::fflush(stdout);
  };
  options->reload = [&] { return reloaded(command, given, whole->server); };
  const Result<void> ended = serve::serve(std::move(*options), std::move(*models));
  return ended ? 0 : report(ended.error());
}

constexpr const char* kServeExamples = R"(Examples:
  parlance serve -m model.gguf --backend llama-server=http://127.0.0.1:8080 --port 9000
  curl http://127.0.0.1:9000/v1/chat/completions -d '{"messages": [{"role": "user", "content": "Hello"}]}'
  parlance serve --config gateway.toml)";

}  // namespace

Run declare_serve(Options& app) {
  auto command = std::make_shared<ServeCommand>();
  app.examples(kServeExamples);
  app.add_option("--config", command->config,
                 "Read these options, and several models, from a TOML file; SIGHUP reads it again")
      .placeholder("FILE");
  declare_model(app, command->model);
  declare_server(app, command->server);
  return [command, app] { return run_serve(*command, app.given()); };
}

}  // namespace parlance::cli
