// What each step of a server costs, from the body of a request to the answer of an API.
//
//     bench_chain MODEL TOKENIZER REQUEST.json REPLY.txt
//
// Prints a Markdown table. The steps are those of docs/embedding.md, in its order; each repeats on its own, with the
// results of the steps before it. The reply is fed token by token, as an engine samples it. The least of rounds that
// run all steps, one after the other. Begin reading at main.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "measure.h"
#include "parlance/parlance.h"

namespace {

using parlance::bench::timed;
using parlance::bench::value_or_end;

constexpr int kRounds = 99;

void end_if_failed(const parlance::Result<void>& result) {
  if (!result) std::fputs(result.error().display().c_str(), stderr), std::exit(1);
}

struct Step {
  const char* name;
  std::function<void()> run;
  std::vector<double> samples{};
};

/// What else the machine does only adds to a sample.
double least(const std::vector<double>& samples) { return *std::min_element(samples.begin(), samples.end()); }

void print(std::vector<Step> steps) {
  for (int round = 0; round < kRounds; ++round) {
    for (Step& step : steps) step.samples.push_back(timed(step.run, 0.002));
  }
  for (const Step& step : steps) std::printf("| %s | %.1f |\n", step.name, 1e6 * least(step.samples));
}

/// What a server does once for each model.
void bench_model(const std::string& model, const std::string& tokenizer, const std::string& body) {
  print({
      {"`open_model()`", [&] { value_or_end(parlance::open_model(model)); }},
      {"`open_tokenizer()`", [&] { value_or_end(parlance::open_tokenizer(tokenizer)); }},
      {"the first request like this: compiles, makes experiments",
       [&] {
         const parlance::RequestReader reader(value_or_end(parlance::open_model(model)));
         parlance::ChatRequest request = value_or_end(reader.read(body));
         value_or_end(reader.reply_to(request));
       }},
  });
}

/// What it does for each request and each reply.
void bench_request(const parlance::RequestReader& reader, const parlance::Tokenizer& tokenizer, const std::string& body,
                   const std::string& reply) {
  parlance::ChatRequest request = value_or_end(reader.read(body)), again;
  const parlance::ReplyStart start = value_or_end(reader.reply_to(request));
  const parlance::GrammarOptions wanted = value_or_end(parlance::grammar_options(request, start));
  const parlance::Grammar grammar = value_or_end(parlance::make_grammar(start.format.source(), wanted));
  parlance::GrammarCache grammars;
  parlance::Workspace workspace;
  parlance::Rendering prompt;
  end_if_failed(reader.render(request, {}, workspace, prompt));
  std::vector<parlance::EncodedToken> tokens;
  end_if_failed(tokenizer.encode(reply, nullptr, tokens));
  std::vector<std::string> texts;
  for (const parlance::EncodedToken& token : tokens) texts.push_back(tokenizer.token_text(token.id));

  std::printf("| **each request:** %zu bytes, a prompt of %zu tokens | |\n", body.size(),
              value_or_end(parlance::tokenize(prompt, request.conversation, tokenizer)).ids.size());
  print({
      {"`RequestReader::read_into()`", [&] { end_if_failed(reader.read_into(again, body)); }},
      {"`RequestReader::render()`", [&] { end_if_failed(reader.render(request, {}, workspace, prompt)); }},
      {"`RequestReader::reply_to()`", [&] { value_or_end(reader.reply_to(request.conversation, {}, prompt.text())); }},
      {"`tokenize()`", [&] { value_or_end(parlance::tokenize(prompt, request.conversation, tokenizer)); }},
      {"`grammar_options()`", [&] { value_or_end(parlance::grammar_options(request, start)); }},
      {"`make_grammar()`", [&] { value_or_end(parlance::make_grammar(start.format.source(), wanted)); }},
      {"`Grammar::to_text()`, GBNF", [&] { (void)grammar.to_text(parlance::GrammarSyntax::gbnf); }},
      {"`GrammarCache::text()` of tools that it knows",
       [&] { value_or_end(grammars.text(start.format.source(), wanted, parlance::GrammarSyntax::gbnf)); }},
      {"`ReplyParser()`", [&] { parlance::ReplyParser(start.format, start.options); }},
  });
  std::printf("| **each reply:** %zu bytes, %zu tokens | |\n", reply.size(), texts.size());
  const parlance::ReplyParser fresh(start.format, start.options);
  print({
      {"`ReplyParser::feed_token()`, all of them",
       [&] {
         parlance::ReplyParser parser = fresh;
         const auto take = [](const parlance::ReplyEvent&) {};
         for (std::size_t i = 0; i < texts.size(); ++i) parser.feed_token(texts[i], tokens[i].added, take);
         parser.finish(take);
       }},
      {"the same with `ReplyApiWriter`: its events and the whole answer",
       [&] {
         parlance::ReplyParser parser = fresh;
         parlance::ReplyApiWriter writer(parlance::ReplyApi::openai);
         const auto send = [](const parlance::ReplyApiEvent&) {};
         const auto take = [&](const parlance::ReplyEvent& event) { writer.add(event, send); };
         writer.begin(send);
         for (std::size_t i = 0; i < texts.size(); ++i) parser.feed_token(texts[i], tokens[i].added, take);
         parser.finish(take);
         writer.finish(send);
         (void)writer.to_json();
       }},
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::fputs("usage: bench_chain MODEL TOKENIZER REQUEST.json REPLY.txt\n", stderr), 2;
  const std::string body = value_or_end(parlance::read_file(argv[3]));
  const std::string reply = value_or_end(parlance::read_file(argv[4]));
  std::printf("| step | µs |\n|---|---:|\n| **once** | |\n");
  bench_model(argv[1], argv[2], body);
  const parlance::RequestReader reader(value_or_end(parlance::open_model(argv[1])));
  const auto tokenizer = value_or_end(parlance::open_tokenizer(argv[2]));
  bench_request(reader, *tokenizer, body, reply);
}
