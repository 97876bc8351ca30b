// Sources: model folders written for the occasion, with transformers' precedence, and broken ones.
#include <gtest/gtest.h>

#include "folder.h"
#include "parlance/source.h"
#include "sources/sentencepiece_names.h"

namespace parlance {
namespace {

TEST(Sources, PrecedenceOfTemplates) {
  const std::string config = R"({"chat_template": "config"})";
  const std::string named =
      R"({"chat_template": [{"name": "default", "template": "d"}, {"name": "tool_use", "template": "t"}]})";
  const std::string processor = R"({"chat_template": "processor"})";
  const struct {
    Texts files;
    Texts expected;
  } rows[] = {
      {{{"tokenizer_config.json", config}}, {{"default", "config"}}},
      {{{"tokenizer_config.json", named}}, {{"default", "d"}, {"tool_use", "t"}}},
      {{{"tokenizer_config.json", R"({"chat_template": {"default": "x", "rag": "y"}})"}},
       {{"default", "x"}, {"rag", "y"}}},
      {{{"tokenizer_config.json", named}, {"chat_template.jinja", "file\n"}}, {{"default", "file\n"}}},
      {{{"tokenizer_config.json", config}, {"chat_template.jinja", "f"}, {"additional_chat_templates/rag.jinja", "r"}},
       {{"default", "f"}, {"rag", "r"}}},
      {{{"tokenizer_config.json", "{}"}, {"chat_template.json", processor}}, {{"default", "processor"}}},
      {{{"tokenizer_config.json", config}, {"chat_template.json", processor}}, {{"default", "config"}}},
      {{{"chat_template.jinja", "alone"}}, {{"default", "alone"}}},
  };
  for (const auto& row : rows) {
    const Result<ModelSource> source = ModelFolder(row.files).open();
    ASSERT_TRUE(source.has_value()) << source.error().display();
    EXPECT_EQ(texts(*source), row.expected);
  }
}

TEST(Sources, SpecialTokens) {
  const std::string map = R"({"bos_token": {"content": "<m>"}, "eos_token": "</m>"})";
  const struct {
    Texts files;
    Texts expected;
  } rows[] = {
      {{{"tokenizer_config.json",
         R"({"bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": false}, "pad_token": null})"}},
       {{"bos_token", "<s>"}, {"eos_token", "</s>"}}},
      {{{"tokenizer_config.json", R"({"bos_token": "<s>", "unk_token": "?"})"}, {"special_tokens_map.json", map}},
       {{"bos_token", "<m>"}, {"eos_token", "</m>"}, {"unk_token", "?"}}},
      {{{"tokenizer_config.json", R"({"bos_token": "<s>", "added_tokens_decoder": {}})"},
        {"special_tokens_map.json", map}},
       {{"bos_token", "<s>"}}},
      {{{"tokenizer_config.json", R"({"bos_token": "", "extra_special_tokens": {"image_token": "<i>"}})"}},
       {{"image_token", "<i>"}}},
  };
  for (const auto& row : rows) {
    Texts files = row.files;
    files["chat_template.jinja"] = "t";
    const Result<ModelSource> source = ModelFolder(files).open();
    ASSERT_TRUE(source.has_value()) << source.error().display();
    EXPECT_EQ(tokens(*source), row.expected);
  }
}

/// Of a .model: TrainerSpec in fields 41 (id of bos), 45 (unk), 46 (bos) and 47 (eos).
TEST(Sources, NamesOfSentencePiece) {
  using std::string_literals::operator""s;
  const auto names = [](const std::string& trainer) {
    ModelFolder folder({{"tokenizer.model", std::string("\x12") + static_cast<char>(trainer.size()) + trainer}});
    const Result<std::string> json = names_of_sentencepiece(folder.path("tokenizer.model"));
    return json ? *json : "[" + std::string(json.error().message()) + "]";
  };
  EXPECT_EQ(names(""), R"({"bos_token":"<s>","eos_token":"</s>","unk_token":"<unk>"})");
  EXPECT_EQ(names("\xf2\x02\x03<b>"s), R"({"bos_token":"<b>","eos_token":"</s>","unk_token":"<unk>"})");
  EXPECT_EQ(names("\xc8\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s), R"({"eos_token":"</s>","unk_token":"<unk>"})")
      << "an id of -1";
  EXPECT_EQ(names("\xc8\x02\xff\xff\xff\xff\x0f"s), R"({"eos_token":"</s>","unk_token":"<unk>"})")
      << "written in 32 bits";
  EXPECT_EQ(names("\xea\x02\x02\xff\xfe"s), R"({"bos_token":"<s>","eos_token":"</s>","unk_token":"<unk>"})")
      << "no UTF-8";
  EXPECT_EQ(names("\xf2\x02\x00"s), R"({"bos_token":"<s>","eos_token":"</s>","unk_token":"<unk>"})") << "an empty text";
  EXPECT_EQ(names("\xf2\x02\x63"s), "{}") << "damaged";
  EXPECT_EQ(names("\xf2\x02\x03<b>\xea\x02\x63"s), "{}") << "damaged behind a name";
}

TEST(Sources, ResponseTemplateIsKeptAsJson) {
  const std::string config =
      R"({"response_template": {"start_anchor": "<a>", "fields": {"content": {"strip": [1, null]}}}})";
  const Result<ModelSource> source =
      ModelFolder(Texts{{"tokenizer_config.json", config}, {"chat_template.jinja", "t"}}).open();
  ASSERT_TRUE(source.has_value()) << source.error().display();
  EXPECT_EQ(source->response_template, R"({"start_anchor": "<a>", "fields": {"content": {"strip": [1, null]}}})");
  const Result<ModelSource> none =
      ModelFolder(Texts{{"tokenizer_config.json", R"({"response_template": null})"}, {"chat_template.jinja", "t"}})
          .open();
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->response_template, "");
}

TEST(Sources, BrokenFolders) {
  const struct {
    Texts files;
    ErrorCode code;
  } rows[] = {
      {{{"config.json", "{}"}}, ErrorCode::no_template},
      {{{"tokenizer_config.json", "{\"chat_template\": }"}}, ErrorCode::json},
      {{{"tokenizer_config.json", "[]"}}, ErrorCode::model_file},
      {{{"tokenizer_config.json", R"({"chat_template": 5})"}}, ErrorCode::model_file},
      {{{"tokenizer_config.json", R"({"chat_template": [{"name": "x"}]})"}}, ErrorCode::model_file},
      {{{"chat_template.jinja", "\xff"}}, ErrorCode::file},
  };
  for (const auto& row : rows) {
    const Result<ModelSource> source = ModelFolder(row.files).open();
    ASSERT_FALSE(source.has_value());
    EXPECT_EQ(source.error().code(), row.code) << source.error().display();
  }
  const ModelFolder folder(Texts{{"tokenizer_config.json", "{\n  \"a\": ,\n}"}});
  const Result<ModelSource> source = folder.open();
  ASSERT_FALSE(source.has_value());
  EXPECT_EQ(source.error().where().line, 2u);
  EXPECT_EQ(source.error().where().column, 8u);
  EXPECT_NE(source.error().where().name.find("tokenizer_config.json"), std::string::npos);
}

TEST(Sources, ChoiceAmongNamedTemplates) {
  const auto chosen = [](const std::vector<std::string>& names, std::optional<std::string_view> name, bool tools) {
    ModelSource source;
    source.path = "model";
    for (const std::string& n : names) source.templates.push_back({n, n, n});
    const Result<const NamedTemplate*> found = source.choose(name, tools);
    return found ? (*found)->name : found.error().display();
  };
  EXPECT_EQ(chosen({"default", "tool_use"}, {}, false), "default");
  EXPECT_EQ(chosen({"default", "tool_use"}, {}, true), "tool_use");
  EXPECT_EQ(chosen({"default", "rag"}, {}, true), "default");
  EXPECT_EQ(chosen({"default", "rag"}, "rag", true), "rag");
  EXPECT_EQ(chosen({"rag"}, {}, true), "rag");
  EXPECT_NE(chosen({"a", "b"}, {}, false).find("choose one by its name"), std::string::npos);
  EXPECT_NE(chosen({"default", "tool_use"}, "tool_uze", false).find("did you mean 'tool_use'?"), std::string::npos);
}

TEST(Sources, MissingFilesNameTheirNeighbours) {
  const ModelFolder folder(Texts{{"template.jinja", "x"}});
  const Result<NamedTemplate> read = open_template_file(folder.path() + "/templat.jinja");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), ErrorCode::file);
  EXPECT_EQ(read.error().hint(), "did you mean 'template.jinja'?");
  EXPECT_FALSE(read_file(folder.path()).has_value());
  EXPECT_FALSE(open_model(folder.path() + "/none").has_value());
}

TEST(Sources, BuiltinFormatsAreThereWithAliases) {
  ASSERT_FALSE(builtin_formats().empty());
  for (const BuiltinFormat& format : builtin_formats()) {
    EXPECT_EQ(find_format(format.name), &format);
    EXPECT_FALSE(format.text.empty());
    EXPECT_FALSE(format.example.empty());
  }
  EXPECT_EQ(find_format("terminal-agent"), find_format("hermes"));
  EXPECT_NE(find_format("terminal-agent"), nullptr);
  ASSERT_NE(find_format("chatml"), nullptr);
  EXPECT_NE(find_format("chatml"), find_format("hermes"));  // plain ChatML adds nothing to the conversation
  EXPECT_EQ(find_format("chatm"), nullptr);
}

}  // namespace
}  // namespace parlance
