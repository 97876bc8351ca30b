// open_tokenizer: which file of a folder is read, and what the files beside it say. The models are
// written here; what they make of texts is in sentencepiece_test.cpp.
#include <gtest/gtest.h>

#include <filesystem>

#include "folder.h"
#include "gguf_maker.h"
#include "parlance/tokenizer.h"
#include "sp_maker.h"
#include "tokenizers/beside.h"

namespace parlance {
namespace {

Texts with_model(Texts files) {
  files["tokenizer.model"] = small_model().made();
  return files;
}

class OpenTokenizer : public ::testing::Test {
 protected:
  void open(const Texts& files, const std::string& name = "", const TokenizerOptions& options = {}) {
    folder_ = std::make_unique<ModelFolder>(files);
    auto opened = open_tokenizer(name.empty() ? folder_->path() : folder_->path(name), options);
    ASSERT_TRUE(opened) << opened.error().display();
    tokenizer_ = std::move(*opened);
  }
  std::string ends() const {
    std::string all;
    for (const EndToken& end : tokenizer_->facts().ends) all += std::to_string(end.id) + " " + end.source + "\n";
    return all;
  }
  std::string ids(std::string_view text) const {
    std::vector<EncodedToken> tokens;
    std::string all;
    if (!tokenizer_->encode(text, nullptr, tokens)) return "failed";
    for (const EncodedToken& token : tokens) all += std::to_string(token.id) + (token.added ? "! " : " ");
    return all;
  }

  std::unique_ptr<ModelFolder> folder_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

#define OPEN(...)    \
  open(__VA_ARGS__); \
  if (HasFatalFailure()) return

std::string failure(const Texts& files, const std::string& name = "") {
  const ModelFolder folder(files);
  const auto opened = open_tokenizer(name.empty() ? folder.path() : folder.path(name));
  if (opened) return "no failure";
  std::string shown = std::string(facts(opened.error().code()).name) + " " + opened.error().message();
  for (std::size_t at; (at = shown.find(folder.path())) != std::string::npos;)
    shown.replace(at, folder.path().size(), "F");
  return shown + "; " + opened.error().hint();
}

constexpr const char* kReads =
    "; parlance reads a Hugging Face tokenizer.json, a SentencePiece .model, a tekken.json, a tiktoken file, the "
    "vocabulary in a GGUF file, or a folder that has one of them; for another tokenizer there is CallbackTokenizer";

TEST_F(OpenTokenizer, a_model_alone) {
  OPEN(with_model({}), "tokenizer.model");
  EXPECT_EQ(tokenizer_->facts().bos, 1);
  EXPECT_EQ(tokenizer_->facts().eos, 2);
  EXPECT_EQ(ends(), "2 tokenizer.model: end of a text\n");
  EXPECT_TRUE(tokenizer_->facts().puts_before.empty());
  EXPECT_TRUE(tokenizer_->facts().notes.empty());
  EXPECT_EQ(ids("ab<s>"), "14 1! ");
}

TEST_F(OpenTokenizer, a_model_of_another_name) {
  OPEN({{"spiece.model", small_model().made()}});
  EXPECT_EQ(ends(), "2 spiece.model: end of a text\n");
}

TEST_F(OpenTokenizer, what_stands_beside_it) {
  OPEN(with_model({{"tokenizer_config.json",
                    R"({"bos_token": "<s>", "eos_token": {"content": "<|end|>", "lstrip": false},
           "pad_token": "<pad>", "unk_token": null, "add_bos_token": true, "add_eos_token": true, "tokenizer_class": )"
                    R"("X",
           "added_tokens_decoder": {"15": {"content": "<|end|>", "special": true, "rstrip": true},
                                    "4": {"content": "zz"}, "x": {"content": "y"}, "16": {}}})"},
                   {"generation_config.json", R"({"eos_token_id": [15, 2, 99, -1, "x"]})"}}),
       "tokenizer_config.json");
  const TokenizerFacts& facts = tokenizer_->facts();
  EXPECT_EQ(facts.vocabulary_size, 16u);
  EXPECT_EQ(facts.eos, 15);
  EXPECT_EQ(facts.puts_before, std::vector<TokenId>{1});
  EXPECT_EQ(facts.puts_after, std::vector<TokenId>{15});
  EXPECT_EQ(ends(),
            "15 tokenizer_config.json: eos_token\n15 generation_config.json: eos_token_id\n"
            "2 generation_config.json: eos_token_id\n");
  ASSERT_EQ(facts.named.size(), 3u);
  EXPECT_EQ(facts.named[1].name, "eos_token");
  EXPECT_EQ(facts.named[1].text, "<|end|>");
  EXPECT_EQ(facts.notes,
            (std::vector<std::string>{"added token 'zz' left out: its id 4 is that of ' '",
                                      "tokenizer_config.json: the added token 'x' is not understood",
                                      "tokenizer_config.json: the added token '16' is not understood",
                                      "generation_config.json: eos_token_id is neither a number nor a list of numbers",
                                      "pad_token '<pad>' is not in the vocabulary",
                                      "generation_config.json: eos_token_id 99 is not in the vocabulary",
                                      "generation_config.json: eos_token_id -1 is not in the vocabulary"}));
  EXPECT_EQ(ids("<|end|>  ab"), "15! 14 ");
}

TEST_F(OpenTokenizer, older_files) {
  OPEN(with_model({{"tokenizer_config.json", R"({"eos_token": "</s>", "bos_token": "<s>"})"},
                   {"special_tokens_map.json", R"({"eos_token": "<|x|>", "additional_special_tokens": ["ab"]})"},
                   {"added_tokens.json", R"({"<|x|>": 3, "<new>": 15, "bad": "1"})"},
                   {"generation_config.json", R"({"eos_token_id": 15})"}}));
  EXPECT_EQ(ends(), "3 special_tokens_map.json: eos_token\n15 generation_config.json: eos_token_id\n");
  EXPECT_TRUE(tokenizer_->facts().added[3].special);
  EXPECT_FALSE(tokenizer_->facts().added.back().special);
  EXPECT_EQ(ids("ab<new>"), "13! 15! ");
  EXPECT_EQ(tokenizer_->facts().notes,
            std::vector<std::string>{"added_tokens.json: the added token 'bad' is not understood"});
}

TEST_F(OpenTokenizer, says_which_files_it_read) {
  const auto names = [this] {
    std::string all;
    for (const std::string& file : tokenizer_->facts().files)
      all += std::filesystem::path(file).filename().string() + " ";
    return all;
  };
  OPEN(with_model({{"generation_config.json", "{}"}, {"added_tokens.json", "{}"}, {"README.md", "none"}}));
  EXPECT_EQ(names(), "tokenizer.model added_tokens.json generation_config.json ");
  OPEN({{"spiece.model", small_model().made()}, {"config.json", "{}"}}, "spiece.model");
  EXPECT_EQ(names(), "spiece.model config.json ");
  for (const std::string& file : tokenizer_->facts().files) EXPECT_TRUE(std::filesystem::exists(file)) << file;
}

TEST_F(OpenTokenizer, legacy_says_which_runs_get_a_blank) {
  OPEN(with_model({{"tokenizer_config.json", R"({"legacy": false})"}}));
  EXPECT_EQ(ids("ab<s>ab"), "14 1! 13 ");
  OPEN(with_model({{"tokenizer_config.json", R"({"legacy": true})"}}));
  EXPECT_EQ(ids("ab<s>ab"), "14 1! 14 ");
  TokenizerOptions options;
  options.sentencepiece.prefix_each_run = false;
  options.sentencepiece.special_tokens = {"[sop]"};
  OPEN(with_model({}), "", options);
  EXPECT_EQ(ids("[sop]ab"), "15! 13 ");
}
#undef OPEN

TEST(OpenTokenizerErrors, say_what_is_possible) {
  EXPECT_EQ(failure({{"a.txt", ""}}), std::string("tokenizer F: no tokenizer in this folder") + kReads);
  EXPECT_TRUE(failure({{"a.gguf", "GGUF"}}).starts_with("model_file at byte 4: "));
  EXPECT_EQ(failure({{"a.gguf", GgufMaker().bytes()}}, "a.gguf"),
            "tokenizer F/a.gguf: no vocabulary in this GGUF file; ");
  EXPECT_TRUE(
      failure({{"a.gguf", ""}, {"b.gguf", ""}}).starts_with("tokenizer F: several GGUF files: 'a.gguf', 'b.gguf'"));
  EXPECT_EQ(failure({{"a.model", ""}, {"b.model", ""}}),
            "tokenizer F: several SentencePiece models: 'a.model', 'b.model'; parlance reads one "
            "of them, if it is given by its name");
  EXPECT_EQ(failure({{"tokenizer.model", ""}}, "tokenizer.mode"),
            "file F/tokenizer.mode: No such file or directory; did you mean 'tokenizer.model'?");
  EXPECT_TRUE(failure({{"tokenizer.json", "{\xff}"}}).starts_with("tokenizer F/tokenizer.json: not UTF-8"));
}

TEST(OpenTokenizerErrors, a_gguf_vocabulary_says_what_it_lacks) {
  const auto file = [](const char* model, std::vector<std::string> tokens) {
    return GgufMaker().string("tokenizer.ggml.model", model).strings("tokenizer.ggml.tokens", tokens).bytes();
  };
  EXPECT_EQ(failure({{"m.gguf", GgufMaker().strings("tokenizer.ggml.tokens", {"a"}).bytes()}}),
            "tokenizer F/m.gguf: no tokenizer.ggml.model, which says how text becomes tokens; ");
  EXPECT_EQ(failure({{"m.gguf", file("bert", {"a"})}}),
            "tokenizer F/m.gguf: tokenizer.ggml.model 'bert' is not read; 'gpt2', 'gemma4', 'llama', 't5', 'plamo2' "
            "and 'rwkv' are; for "
            "another one open the tokenizer's own file");
  EXPECT_EQ(failure({{"m.gguf", file("gpt2", {"a"})}}),
            "tokenizer F/m.gguf: no tokenizer.ggml.merges, which its tokenizer.ggml.model 'gpt2' needs; ");
  EXPECT_EQ(failure({{"m.gguf", file("llama", {"a", "b", "a"})}}),
            "tokenizer F/m.gguf: the tokens 0 and 2 have the same text 'a'; ");
  EXPECT_EQ(failure({{"m.gguf", file("llama", {"a", "\xff"})}}),
            "tokenizer F/m.gguf: the text of token 1 is not UTF-8; ");
  const std::string odd = GgufMaker()
                              .string("tokenizer.ggml.model", "gpt2")
                              .string("tokenizer.ggml.pre", "gpt-22")
                              .strings("tokenizer.ggml.tokens", {"a"})
                              .strings("tokenizer.ggml.merges", {"a a"})
                              .bytes();
  EXPECT_EQ(failure({{"m.gguf", odd}}),
            "tokenizer F/m.gguf: tokenizer.ggml.pre 'gpt-22' is not known; did you mean 'gpt-2'?");
}

TEST(OpenTokenizerErrors, a_tiktoken_file_says_its_line_and_asks_how_to_split) {
  EXPECT_TRUE(failure({{"a.tiktoken", "YQ== 0\n"}})
                  .starts_with("tokenizer F/a.tiktoken: a tiktoken file does not say how text is split into words; "
                               "the option split names it (cl100k_base, "));
  EXPECT_EQ(failure({{"a.tiktoken", "YQ== 0\nYg== x\n"}}),
            "tokenizer F/a.tiktoken: line 2: not a token's bytes in base64, a blank and a rank; ");
  EXPECT_EQ(failure({{"a.tiktoken", "YQ== 0\nYg== 0\n"}}),
            "tokenizer F/a.tiktoken: line 2: rank 0 stands there twice; ");
  EXPECT_EQ(failure({{"a.tiktoken", "YQ== 0\nYg== 4194304\n"}}),
            "tokenizer F/a.tiktoken: line 2: a rank of 4194304 or more; ");
}

TEST(OpenTokenizerErrors, a_tekken_file_says_what_it_lacks) {
  const std::string vocabulary = R"("vocab": [{"rank": 0, "token_bytes": "YQ=="}])";
  const auto file = [&](const std::string& rest) { return "{" + vocabulary + (rest.empty() ? "" : ", ") + rest + "}"; };
  EXPECT_EQ(failure({{"tekken.json", file("")}}), "tokenizer F/tekken.json: no object 'config'; ");
  EXPECT_EQ(failure({{"tekken.json", file(R"("config": {})")}}),
            "tokenizer F/tekken.json: config has no text 'pattern'; ");
  const std::string config =
      R"("config": {"pattern": "a", "default_vocab_size": 3, "default_num_special_tokens": 1, "version": "v11"})";
  EXPECT_EQ(failure({{"tekken.json", file(config)}}),
            "tokenizer F/tekken.json: no list 'special_tokens', which a file of version 'v11' must have; ");
  EXPECT_EQ(failure({{"tekken.json", file(config + R"(, "special_tokens": [])")}}),
            "tokenizer F/tekken.json: vocab has 1 tokens, config means 2; ");
}

TEST(OpenTokenizerErrors, broken_files_beside_it_have_a_place) {
  for (const char* name :
       {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "generation_config.json"}) {
    const ModelFolder folder(with_model({{name, "{\n\"a\": }"}}));
    const auto opened = open_tokenizer(folder.path());
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(opened.error().code(), ErrorCode::json);
    EXPECT_EQ(opened.error().where().line, 2u);
    EXPECT_TRUE(opened.error().where().name.ends_with(name));
    EXPECT_TRUE(
        failure(with_model({{name, "[]"}})).starts_with("model_file F/" + std::string(name) + ": not a JSON object"));
  }
}

TEST(OpenTokenizerErrors, files_that_are_something_else_say_what) {
  constexpr std::pair<const char*, const char*> kKinds[] = {{"tokenizer.json", "a Hugging Face tokenizer.json"},
                                                            {"tokenizer.model", "a SentencePiece .model"},
                                                            {"x.model", "a SentencePiece .model"},
                                                            {"tekken.json", "a tekken.json"},
                                                            {"x.tiktoken", "a tiktoken file"}};
  constexpr std::pair<const char*, const char*> kFiles[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
       "it is a Git LFS pointer: the file itself "
       "was not downloaded"},
      {"", "the file is empty"},
      {"\xEF\xBB\xBF{}", "it begins with a byte order mark (EF BB BF): save it as UTF-8 without one"},
      {"<!DOCTYPE html>", "it is a web page"}};
  for (const auto& [name, kind] : kKinds) {
    for (const auto& [bytes, hint] : kFiles) {
      EXPECT_EQ(failure({{name, bytes}}), std::string("tokenizer F/") + name + ": not " + kind + "; " + hint);
    }
  }
  const std::string said = failure({{"tokenizer.json", "nothing"}});
  const bool reads_json = !said.starts_with("tokenizer this build does not read");
  EXPECT_TRUE(!reads_json || said == "json Expecting value; ") << said;
  EXPECT_TRUE(failure({{"x.tiktoken", "nothing\n"}}).starts_with("tokenizer F/x.tiktoken: line 1: "));
}

TEST(OpenTokenizerErrors, damaged_models_are_no_tokenizers) {
  if (!open_tokenizer(ModelFolder(with_model({})).path())) GTEST_SKIP();
  EXPECT_TRUE(failure({{"tokenizer.model", "IQ== 0\nIg== 1\n"}})
                  .starts_with("tokenizer F/tokenizer.model: a tiktoken file does not say how"));
  EXPECT_TRUE(failure({{"tokenizer.model", ""}}).starts_with("tokenizer F/tokenizer.model: not a SentencePiece"));
}

TEST(Beside, odd_types_are_left_out) {
  const ModelFolder folder({{"tokenizer_config.json",
                             R"({"bos_token": 7, "eos_token": {"a": 1}, "added_tokens_decoder": [],
      "additional_special_tokens": "x", "legacy": "yes", "add_bos_token": 1})"},
                            {"generation_config.json", R"({"eos_token_id": {"a": 2}})"}});
  const Result<Beside> read = read_beside(folder.path());
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->named.empty());
  EXPECT_TRUE(read->added.empty());
  EXPECT_TRUE(read->ends.empty());
  EXPECT_FALSE(read->legacy || read->add_bos);
  EXPECT_EQ(read->notes.size(), 4u);  // bos_token, eos_token, added_tokens_decoder, eos_token_id
}

}  // namespace
}  // namespace parlance
