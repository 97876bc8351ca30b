// Modelfiles: Ollama's rules of quoting, what a FROM brings, and what a request gets put before it.
#include "sources/modelfile.h"

#include <gtest/gtest.h>

#include "conversation/conversation.h"
#include "conversation/edit.h"
#include "folder.h"
#include "gguf_maker.h"
#include "parlance/parlance.h"

namespace parlance {
namespace {

using Strings = std::vector<std::string>;

/// "name[ word]=value" of each command, or the error.
Strings commands(std::string_view text) {
  const Result<std::vector<ModelfileCommand>> read = parse_modelfile(text, "Modelfile");
  if (!read) return {read.error().display()};
  Strings all;
  for (const ModelfileCommand& c : *read) all.push_back(c.name + (c.word.empty() ? "" : " " + c.word) + "=" + c.value);
  return all;
}

TEST(Modelfile, QuotingAsOllamaDoesIt) {
  const struct {
    std::string text;
    Strings expected;
  } rows[] = {
      {"FROM x", {"from=x"}},
      {"from x\n", {"from=x"}},
      {"\xEF\xBB\xBF  # comment\r\n\r\nFROM x\r\nSYSTEM y\r\n", {"from=x", "system=y"}},
      {"FROM   a b  \t\n", {"from=a b"}},
      {"FROM x\nSYSTEM it's # no comment", {"from=x", "system=it's # no comment"}},
      {"FROM x\nSYSTEM \"a\"", {"from=x", "system=a"}},
      {"FROM x\nSYSTEM \"\"", {"from=x", "system="}},
      {"FROM x\nSYSTEM \"a\nb\"\nLICENSE z", {"from=x", "system=a\nb", "license=z"}},
      {"FROM x\nSYSTEM \"\"\"\n a\n\"\"\"", {"from=x", "system=\n a\n"}},
      {"FROM x\nSYSTEM \"\"\"a\"\"\"", {"from=x", "system=a"}},
      {"FROM x\nSYSTEM \"\"\"a\r\nb\"\"\"\r\n", {"from=x", "system=a\r\nb"}},
      // No escapes; quotes inside stay, and count only where a line ends.
      {"FROM x\nSYSTEM \"a\\\"b\"", {"from=x", "system=a\\\"b"}},
      {"FROM x\nSYSTEM \"a\" b\nc\"", {"from=x", "system=a\" b\nc"}},
      {"FROM x\nSYSTEM 'a'", {"from=x", "system='a'"}},
      {"FROM x\nSYSTEM a \"b\"", {"from=x", "system=a \"b\""}},
      {"FROM x\nSYSTEM \"\"\"\"a\"\"\"\"", {"from=x", "system=\"a\""}},
      // White space at the ends goes before the quotes do.
      {"FROM x\nSYSTEM   \" a \"  \n", {"from=x", "system= a "}},
      {"FROM x\nSYSTEM \n", {"from=x", "system="}},
      {"FROM x\nPARAMETER stop <|end|>\nPARAMETER top_k 3", {"from=x", "parameter stop=<|end|>", "parameter top_k=3"}},
      {"FROM x\nMESSAGE user hi: there\nMESSAGE assistant \"\"\"a\nb\"\"\"",
       {"from=x", "message user=hi: there", "message assistant=a\nb"}},
      // What is not printable is dropped: a zero-width space, a no-break space, a bell.
      {"\xE2\x80\x8B"
       "FROM a\xC2\xA0"
       "b\xE2\x80\x8B\a",
       {"from=ab"}},
      {"FROM x\nSYSTEM \xE4\xB8\xAD\t\xF0\x9F\x99\x82", {"from=x", "system=\xE4\xB8\xAD\t\xF0\x9F\x99\x82"}},
  };
  for (const auto& row : rows) EXPECT_EQ(commands(row.text), row.expected) << row.text;
}

TEST(Modelfile, ErrorsHaveAPlace) {
  const struct {
    std::string text;
    std::string said;
  } rows[] = {
      {"", "no FROM line"},
      {"SYSTEM x", "no FROM line"},
      {"FROM x\nSYSTM y", "Modelfile:2:1: damaged model: there is no such command"},
      {"FROM x\nSYSTM y", "did you mean 'system'?"},
      {"FROM x\nline two", "text of several lines stands between \"\"\" and \"\"\""},
      {"FROM\n", "Modelfile:1:1: damaged model: a command without a value"},
      {"FROM", "a command without a value"},
      {"FROM x\nSYSTEM=y", "a command without a value"},
      {"FROM x\nPARAMETER stop\n", "Modelfile:2:11: damaged model: a PARAMETER without a value"},
      {"FROM x\nPARAMETER  stop x\n", "a PARAMETER without a name"},
      {"FROM x\nPARAMETER a-b x", "a PARAMETER without a value"},
      {"FROM x\nMESSAGE bot x", "the role of a MESSAGE is system, user or assistant"},
      {"FROM x\nMESSAGE user", "a MESSAGE without a value"},
      {"FROM x\n\nTEMPLATE \"\"\"a\nFROM y\n",
       "Modelfile:3:1: damaged model: the quotes that open here are never closed"},
      {"FROM x\nSYSTEM \"", "the quotes that open here are never closed"},
      {"FROM x\nSYSTEM \"\"\"", "the quotes that open here are never closed"},
      {"FROM x\nSYSTEM \"\"\"\"\"", "the quotes that open here are never closed"},
  };
  for (const auto& row : rows) {
    const Strings said = commands(row.text);
    ASSERT_EQ(said.size(), 1u) << row.text;
    EXPECT_NE(said[0].find(row.said), std::string::npos) << row.text << "\n" << said[0];
  }
}

TEST(Modelfile, ALongOpenQuoteEndsSoon) {
  std::string text = "FROM x\nSYSTEM \"";
  for (int i = 0; i < 300'000; ++i) text += "\n \"\"x";
  EXPECT_NE(commands(text)[0].find("never closed"), std::string::npos);
}

std::string base_model() {
  return GgufMaker()
      .strings("tokenizer.ggml.tokens", {"<s>"})
      .u32("tokenizer.ggml.bos_token_id", 0)
      .string("tokenizer.chat_template", "base")
      .bytes();
}

TEST(Modelfile, ATemplateOfItsOwnIsGos) {
  const ModelFolder folder({{"m.gguf", base_model()},
                            {"Modelfile",
                             "FROM ./m.gguf\nTEMPLATE old\nTEMPLATE \"\"\"{{ .Prompt }}\n\"\"\"\nSYSTEM be kind\n"
                             "MESSAGE user hi\nMESSAGE assistant ho\nPARAMETER stop a\nPARAMETER stop \" b\"\n"
                             "PARAMETER top_k 1\nPARAMETER top_k 2\nRENDERER some-code\n"}});
  const Result<ModelSource> source = folder.open("Modelfile");
  ASSERT_TRUE(source.has_value()) << source.error().display();
  EXPECT_EQ(texts(*source), (Texts{{"default", "{{ .Prompt }}\n"}}));
  EXPECT_EQ(source->templates[0].syntax, Syntax::go);
  EXPECT_EQ(source->templates[0].origin, folder.path("Modelfile") + " (TEMPLATE)");
  EXPECT_EQ(tokens(*source), (Texts{{"bos_token", "<s>"}}));
  EXPECT_EQ(source->system, "be kind");
  EXPECT_EQ(messages(*source), (Strings{"user: hi", "assistant: ho"}));
  EXPECT_EQ(parameters(*source), (Strings{"stop=a", "stop= b", "top_k=2"}));
  EXPECT_EQ(source->stop(), (std::vector<std::string_view>{"a", " b"}));
  ASSERT_EQ(source->notes.size(), 1u);
  EXPECT_NE(source->notes[0].find("'some-code'"), std::string::npos);
}

TEST(Modelfile, FromIsFollowed) {
  const ModelFolder folder({
      {"m.gguf", base_model()},
      {"hf/chat_template.jinja", "hf"},
      {"a/Modelfile", "FROM ../m.gguf\nSYSTEM a\nPARAMETER stop 1\nPARAMETER top_k 1\nMESSAGE user a"},
      {"b.Modelfile", "FROM a/Modelfile\nPARAMETER stop 2\nSYSTEM \"\"\nTEMPLATE \"\""},
      {"Modelfile.c", "FROM hf\nMESSAGE user c"},
      {"Modelfile.d", "FROM missing.gguf\nFROM m.gguf"},
      {"Modelfile.e", "FROM ~/m.gguf"},
  });
  Result<ModelSource> source = folder.open("b.Modelfile");
  ASSERT_TRUE(source.has_value()) << source.error().display();
  EXPECT_EQ(texts(*source), (Texts{{"default", "base"}}));
  EXPECT_EQ(source->templates[0].syntax, Syntax::jinja);
  EXPECT_EQ(source->system, "a");
  EXPECT_EQ(parameters(*source), (Strings{"top_k=1", "stop=2"}));
  EXPECT_EQ(messages(*source), (Strings{"user: a"}));
  EXPECT_EQ(texts(*folder.open("Modelfile.c")), (Texts{{"default", "hf"}}));
  EXPECT_EQ(texts(*folder.open("Modelfile.d")), (Texts{{"default", "base"}}));
  ModelStores stores;
  stores.home = folder.path();
  EXPECT_EQ(texts(*folder.open("Modelfile.e", stores)), (Texts{{"default", "base"}}));
}

TEST(Modelfile, FromThatLeadsNowhere) {
  Texts files = {
      {"Modelfile", "FROM missing"},
      {"Modelfile.own", "FROM missing\nTEMPLATE t"},
      {"Modelfile.self", "FROM Modelfile.self"},
      {"Modelfile.a", "FROM ./Modelfile.b\nTEMPLATE t"},
      {"Modelfile.b", "FROM ./Modelfile.a"},
      {"Modelfile.broken", "FROM m.gguf\nTEMPLATE t"},
      {"Modelfile.utf8", "FROM x\nSYSTEM \xff"},
      {"m.gguf", "GGUF"},
      {"Modelfile.none", "FROM n.gguf"},
      {"Modelfile.none2", "FROM n.gguf\nTEMPLATE t"},
      {"n.gguf", GgufMaker().bytes()},
  };
  for (int i = 0; i < 20; ++i) files["Modelfile." + std::to_string(i)] = "FROM Modelfile." + std::to_string(i + 1);
  const ModelFolder folder(files);
  const std::string missing = failure(folder.open("Modelfile"));
  EXPECT_TRUE(missing.starts_with("file ")) << missing;
  EXPECT_NE(missing.find("in: FROM of " + folder.path("Modelfile")), std::string::npos) << missing;
  const Result<ModelSource> own = folder.open("Modelfile.own");
  ASSERT_TRUE(own.has_value()) << own.error().display();
  EXPECT_NE(own->notes[0].find("FROM was not followed: missing"), std::string::npos);
  EXPECT_NE(failure(folder.open("Modelfile.self")).find("its FROM leads back to itself"), std::string::npos);
  EXPECT_NE(failure(folder.open("Modelfile.a")).find("its FROM leads back to itself"), std::string::npos);
  EXPECT_NE(failure(folder.open("Modelfile.0")).find("more than 8 FROMs"), std::string::npos);
  EXPECT_TRUE(failure(folder.open("Modelfile.broken")).starts_with("model_file "));
  EXPECT_TRUE(failure(folder.open("Modelfile.utf8")).starts_with("file "));
  EXPECT_TRUE(failure(folder.open("Modelfile.none")).starts_with("no_template "));
  EXPECT_EQ(texts(*folder.open("Modelfile.none2")), (Texts{{"default", "t"}}));
}

TEST(Modelfile, Utf16WithAByteOrderMark) {
  const std::u16string text = u"FROM m.gguf\nSYSTEM \u4e2d\U0001F642";
  std::string little = "\xFF\xFE", big = "\xFE\xFF";
  for (const char16_t unit : text) {
    const char low = static_cast<char>(unit & 0xff), high = static_cast<char>(unit >> 8);
    (little += low) += high;
    (big += high) += low;
  }
  const ModelFolder folder({{"m.gguf", base_model()}, {"Modelfile.le", little}, {"Modelfile.be", big}});
  for (const char* name : {"Modelfile.le", "Modelfile.be"}) {
    const Result<ModelSource> source = folder.open(name);
    ASSERT_TRUE(source.has_value()) << source.error().display();
    EXPECT_EQ(source->system, "\xE4\xB8\xAD\xF0\x9F\x99\x82");
  }
}

// ---- what a request gets

/// "role:content" of each message of a conversation.
Strings contents(const Conversation& chat) {
  Strings all;
  for (const Value& m : items(chat.messages()))
    all.push_back(std::string(leaf_text(*member(m, "role"))) + ":" + std::string(leaf_text(*member(m, "content"))));
  return all;
}

ModelSource talking_model() {
  ModelSource model;
  model.system = "S";
  model.messages = {{"user", "q"}, {"assistant", "a"}};
  model.special_tokens = {{"bos_token", "<s>"}};
  return model;
}

TEST(AddModel, SystemAndMessagesInOllamasOrder) {
  const struct {
    const char* request;
    Strings expected;
  } rows[] = {
      {R"({"messages": [{"role": "user", "content": "hi"}]})", {"system:S", "user:q", "assistant:a", "user:hi"}},
      {R"({"messages": [{"role": "system", "content": "own"}, {"role": "user", "content": "hi"}]})",
       {"user:q", "assistant:a", "system:own", "user:hi"}},
      {R"({"messages": [{"role": "user", "content": "hi"}, {"role": "system", "content": "late"}]})",
       {"system:S", "user:q", "assistant:a", "user:hi", "system:late"}},
      {R"({"messages": []})", {"system:S", "user:q", "assistant:a"}},
  };
  for (const auto& row : rows) {
    Result<Conversation> chat = Conversation::from_json(row.request);
    ASSERT_TRUE(chat.has_value());
    ASSERT_TRUE(add_model(*chat, talking_model()));
    EXPECT_EQ(contents(*chat), row.expected);
  }
}

TEST(AddModel, TokensOnly) {
  Result<Conversation> chat = Conversation::from_json(R"({"messages": [], "bos_token": "<own>"})");
  ASSERT_TRUE(add_model(*chat, talking_model(), true));
  EXPECT_TRUE(contents(*chat).empty());
  EXPECT_EQ(leaf_text(*member(chat->variables(), "bos_token")), "<own>");
}

TEST(AddModel, SpansKnowWhoseMessageItIs) {
  const Result<Template> compiled = Template::compile(
      "{% for m in messages %}[{{ m.content }}{% for c in m.tool_calls %}{{ c.function.arguments.x "
      "}}{% endfor %}]{% endfor %}");
  ASSERT_TRUE(compiled.has_value());
  Result<Conversation> chat = Conversation::from_json(
      R"({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo",
          "tool_calls": [{"function": {"name": "f", "arguments": "{\"x\": \"arg\"}"}}]}]})");
  ASSERT_TRUE(chat.has_value());
  ASSERT_TRUE(chat->add({.role = "user", .content = "more"}));
  ASSERT_TRUE(add_model(*chat, talking_model()));
  ASSERT_TRUE(chat->add({.role = "user", .content = "last"}));
  const Result<Rendering> prompt = compiled->render(*chat);
  ASSERT_TRUE(prompt.has_value()) << prompt.error().display();
  EXPECT_EQ(prompt->text(), "[S][q][a][hi][yoarg][more][last]");
  const struct {
    std::string_view text;
    std::int32_t message;
    std::string_view path;
  } expected[] = {
      {"S", 0, "model.messages[0].content"}, {"q", 1, "model.messages[1].content"},
      {"a", 2, "model.messages[2].content"}, {"hi", 3, "messages[0].content"},
      {"yo", 4, "messages[1].content"},      {"arg", 4, "messages[1].tool_calls[0].function.arguments.x"},
      {"more", 5, "messages[2].content"},    {"last", 6, "messages[3].content"},
  };
  std::size_t next = 0;
  for (const Span& span : prompt->spans()) {
    if (span.origin == Origin::literal) continue;
    ASSERT_LT(next, std::size(expected));
    EXPECT_EQ(prompt->text().substr(span.begin, span.end - span.begin), expected[next].text);
    EXPECT_EQ(span.message, expected[next].message) << expected[next].text;
    if (expected[next].text != "arg") {
      EXPECT_EQ(path_of_span(*chat, span), expected[next].path);
    }
    ++next;
  }
  EXPECT_EQ(next, std::size(expected));
}

TEST(AddModel, EveryWayToAMessageCountsAll) {
  Result<Conversation> chat = Conversation::from_json(
      R"({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": null,
          "tool_calls": [{"function": {"name": "f", "arguments": "{\"x\": \"a\\nb\"}"}}]}]})");
  ASSERT_TRUE(chat.has_value());
  ASSERT_TRUE(add_model(*chat, talking_model()));
  const std::span<const Value> all = items(chat->messages());
  ASSERT_EQ(all.size(), 5u);
  std::int32_t message = -1;
  EXPECT_TRUE(find_place(inside_of(*chat), leaf_text(*member(all[3], "content")).data(), message));
  EXPECT_EQ(message, 3);
  EXPECT_TRUE(find_place(inside_of(*chat), origin_of(all[3]), message));
  EXPECT_EQ(message, 3);
  // Text that was made of the request's: what a JSON escape in an argument stands for.
  const Value call = items(*member(all[4], "tool_calls"))[0];
  const Value* x = member(*member(*member(call, "function"), "arguments"), "x");
  ASSERT_EQ(leaf_text(*x), "a\nb");
  EXPECT_TRUE(find_place(inside_of(*chat), leaf_text(*x).data(), message));
  EXPECT_EQ(message, 4);
  EXPECT_EQ(chat->path_of(*x).substr(0, 28), "messages[1].tool_calls[0].fu");
}

TEST(AddModel, TheLastMessageCanStillBeContinued) {
  const Result<Template> compiled =
      Template::compile("{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}");
  Result<Conversation> chat = Conversation::from_json(
      R"({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Old pond"}]})");
  ASSERT_TRUE(add_model(*chat, talking_model()));
  RenderOptions options;
  options.continue_final = true;
  const Result<Rendering> prompt = compiled->render(*chat, options);
  ASSERT_TRUE(prompt.has_value()) << prompt.error().display();
  EXPECT_TRUE(prompt->text().ends_with("<assistant>Old pond")) << prompt->text();
  EXPECT_TRUE(prompt->text().starts_with("<system>S<end><user>q<end>"));
  // A conversation that is read anew has forgotten the model.
  ASSERT_TRUE(chat->read(R"({"messages": [{"role": "user", "content": "x"}]})"));
  const Result<Rendering> again = compiled->render(*chat);
  for (const Span& span : again->spans()) EXPECT_LE(span.message, 0);
}

}  // namespace
}  // namespace parlance
