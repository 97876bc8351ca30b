// GGUF files as sources: what is read, and that damaged ones end in an error with a place. The real
// writer's files are tests/oracle/gguf_oracle.py.
#include "sources/gguf.h"

#include <gtest/gtest.h>

#include "folder.h"
#include "gguf_maker.h"

namespace parlance {
namespace {

constexpr std::string_view kTemplateKey = "tokenizer.chat_template";
constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";

GgufMaker some_model(std::uint32_t version = 3, bool big_endian = false) {
  GgufMaker maker(version, big_endian);
  maker.string("general.architecture", "x")
      .strings(kTokensKey, {"<unk>", "<s>", "</s>", "a"})
      .pair("tokenizer.ggml.scores", GgufMaker::kArray)
      .number(GgufMaker::kF32, 4)
      .number(4, 8)
      .number(0, 8)
      .number(0, 8)
      .u32("tokenizer.ggml.bos_token_id", 1)
      .u32("tokenizer.ggml.eos_token_id", 2)
      .u32("tokenizer.ggml.unknown_token_id", 0)
      .flag("tokenizer.ggml.add_bos_token", 1)
      .flag("tokenizer.ggml.add_eos_token", 0)
      .string("tokenizer.chat_template.rag", "r")
      .string(kTemplateKey, "{{ bos_token }}d");
  return maker;
}

TEST(Gguf, BothVersionsAndByteOrders) {
  for (const std::uint32_t version : {2u, 3u}) {
    for (const bool big_endian : {false, true}) {
      const ModelFolder folder({{"m.gguf", some_model(version, big_endian).bytes()}});
      const Result<ModelSource> source = folder.open("m.gguf");
      ASSERT_TRUE(source.has_value()) << source.error().display();
      EXPECT_EQ(texts(*source), (Texts{{"default", "{{ bos_token }}d"}, {"rag", "r"}}));
      EXPECT_EQ(tokens(*source), (Texts{{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}}));
      EXPECT_EQ(source->special_tokens[1].id, 2);
      EXPECT_EQ(source->add_bos_token, true);
      EXPECT_EQ(source->add_eos_token, false);
      EXPECT_EQ(source->templates[0].origin, folder.path("m.gguf") + " (tokenizer.chat_template.rag)");
      EXPECT_EQ(source->templates[0].syntax, Syntax::jinja);
      EXPECT_TRUE(source->notes.empty());
    }
  }
}

TEST(Gguf, IsRecognisedWithoutItsEnding) {
  const ModelFolder folder({{"sha256-0", some_model().bytes()}});
  EXPECT_TRUE(folder.open("sha256-0").has_value());
}

TEST(Gguf, TokensAreFoundAnywhereInAVocabulary) {
  std::vector<std::string> vocabulary;
  for (int i = 0; i < 5000; ++i) vocabulary.push_back("t" + std::to_string(i));
  for (const bool big_endian : {false, true}) {
    const std::string bytes = GgufMaker(3, big_endian).strings(kTokensKey, vocabulary).bytes();
    const Result<GgufHeader> header = read_gguf(bytes, "m");
    ASSERT_TRUE(header.has_value()) << header.error().display();
    EXPECT_EQ(header->tokens.size(), 5000u);
    for (const std::uint64_t i : {0, 1, 1023, 1024, 1025, 2048, 4999}) {
      EXPECT_EQ(header->tokens.at(i), vocabulary[i]);
    }
    EXPECT_EQ(header->tokens.at(5000), std::nullopt);
    EXPECT_EQ(header->tokens.at(~std::uint64_t{0}), std::nullopt);
  }
}

TEST(Gguf, ControlTokensAreThoseOfTheirTypes) {
  for (const bool big_endian : {false, true}) {
    GgufMaker maker(3, big_endian);
    maker.strings(kTokensKey, {"a", "<|end|>", "<tool>", "\n", "<unused>"});
    maker.pair("tokenizer.ggml.token_type", GgufMaker::kArray).number(GgufMaker::kI32, 4).number(5, 8);
    for (const std::uint64_t type : {1, 3, 4, 4, 5}) maker.number(type, 4);
    const ModelFolder folder({{"m.gguf", maker.bytes()}});
    for (const std::string& path : {folder.path("m.gguf"), folder.path()}) {
      const auto tokens = control_tokens(path);
      ASSERT_TRUE(tokens.has_value()) << tokens.error().display();
      ASSERT_EQ(tokens->size(), 2u);
      EXPECT_EQ((*tokens)[0].text, "<|end|>");
      EXPECT_EQ((*tokens)[0].id, 1);
      EXPECT_TRUE((*tokens)[0].special);
      EXPECT_EQ((*tokens)[1].text, "<tool>");
      EXPECT_FALSE((*tokens)[1].special);
    }
  }
  const ModelFolder folder(Texts{{"x.model", "?"}});
  EXPECT_EQ(control_tokens(folder.path("x.model")).error().code(), ErrorCode::tokenizer);
  EXPECT_EQ(control_tokens(folder.path("gone.json")).error().code(), ErrorCode::file);
}

TEST(Gguf, NumbersOfTokensMayHaveAnyIntegerType) {
  using Maker = GgufMaker;
  const struct {
    Maker::Type type;
    int size;
    std::uint64_t value;
    std::string note;  // "": the token is there
  } rows[] = {
      {Maker::kU8, 1, 1, ""},
      {Maker::kI64, 8, 1, ""},
      {Maker::kU64, 8, 1, ""},
      {Maker::kI32, 4, 0xffffffff, "no number of a token"},
      {Maker::kU64, 8, ~std::uint64_t{0}, "no number of a token"},
      {Maker::kU32, 4, 0xffffffff, "4294967295, and the vocabulary has 2 tokens"},
      {Maker::kU16, 2, 2, "2, and the vocabulary has 2 tokens"},
  };
  for (const auto& row : rows) {
    Maker maker;
    maker.strings(kTokensKey, {"a", "b"}).pair("tokenizer.ggml.padding_token_id", row.type).number(row.value, row.size);
    maker.string(kTemplateKey, "t");
    const ModelFolder folder({{"m.gguf", maker.bytes()}});
    const Result<ModelSource> source = folder.open("m.gguf");
    ASSERT_TRUE(source.has_value()) << source.error().display();
    if (row.note.empty()) {
      EXPECT_EQ(tokens(*source), (Texts{{"pad_token", "b"}}));
      EXPECT_TRUE(source->notes.empty());
    } else {
      EXPECT_TRUE(source->special_tokens.empty());
      ASSERT_EQ(source->notes.size(), 1u);
      EXPECT_NE(source->notes[0].find(row.note), std::string::npos) << source->notes[0];
    }
  }
}

// Every damaged header: what is said, and that it is said at a byte.
TEST(Gguf, DamagedHeaders) {
  using Maker = GgufMaker;
  const std::uint64_t huge = ~std::uint64_t{0};
  Maker nested;
  nested.pair("x", Maker::kArray);
  for (int i = 0; i < 20; ++i) nested.number(Maker::kArray, 4).number(1, 8);
  const struct {
    std::string bytes;
    std::string said;
  } rows[] = {
      {"", "at byte 0: not a GGUF file"},
      {"GGU", "at byte 0: not a GGUF file"},
      {"version https://git-lfs.github.com/spec/v1\noid", "Git LFS pointer"},
      {"GGUF", "at byte 4: the version of 4 bytes, but 0 bytes are left"},
      {Maker(1).bytes(), "at byte 4: version 1 of GGUF; 2 and 3 are read"},
      {Maker(4).bytes(), "at byte 4: version 4 of GGUF"},
      {Maker(1, true).bytes(), "at byte 4: version 1 of GGUF"},
      {Maker().claim_pairs(huge).bytes(), "at byte 16: 18446744073709551615 pairs"},
      {Maker().claim_pairs(1).bytes(), "at byte 16: 1 pairs"},
      {Maker().claim_pairs(1).string("x", "y").string("z", "").bytes(),
       "at byte 67: the length of a text of 8 bytes, but 0"},
      {Maker().number(huge, 8).number(0, 8).claim_pairs(1).bytes(), "at byte 32: a key of 18446744073709551615 bytes"},
      {Maker().string(std::string(65536, 'k'), "").bytes(), "at byte 24: a key of 65536 bytes; 65535 are allowed"},
      {Maker().pair("x", static_cast<Maker::Type>(13)).number(0, 8).bytes(), "'x' has the unknown type 13"},
      {Maker().pair("x", static_cast<Maker::Type>(huge)).number(0, 8).bytes(), "has the unknown type 4294967295"},
      {Maker().pair("x", Maker::kString).number(huge, 8).bytes(), "text 0 of 18446744073709551615 bytes in 'x'"},
      {Maker().pair("x", Maker::kArray).number(Maker::kF64, 4).number(huge / 8 + 1, 8).bytes(),
       "an array of 2305843009213693952"},
      {Maker().pair("x", Maker::kArray).number(Maker::kString, 4).number(huge, 8).bytes(),
       "an array of 18446744073709551615"},
      {Maker().pair("x", Maker::kArray).number(Maker::kString, 4).number(2, 8).number(0, 8).number(9, 8).bytes(),
       "text 1 of 9 bytes"},
      {Maker().pair("x", Maker::kArray).number(99, 4).number(0, 8).bytes(), "'x' has the unknown type 99"},
      {nested.bytes(), "arrays in arrays, more than 8 deep"},
      {Maker().pair(kTokensKey, Maker::kArray).number(Maker::kU32, 4).number(0, 8).bytes(),
       "is an array of uint32, not of texts"},
      {Maker().u32(kTokensKey, 1).bytes(), "is of type uint32, not array"},
      {Maker().strings(kTokensKey, {"a"}).strings(kTokensKey, {"a"}).bytes(), "stands there twice"},
      {Maker().u32(kTemplateKey, 1).bytes(), "'tokenizer.chat_template' is of type uint32, not string"},
      {Maker().string(kTemplateKey, "a\xff").bytes(), "'tokenizer.chat_template' is not UTF-8"},
      {Maker().string(kTemplateKey, "a").string(kTemplateKey, "b").bytes(), "stands there twice"},
      {Maker().string(kTemplateKey, "a").string("tokenizer.chat_template.default", "b").bytes(), "stands there twice"},
      {Maker().string("tokenizer.chat_template.\xff", "a").bytes(), "the name of a template is not text"},
      {Maker().string("tokenizer.chat_template.\x1b[31m", "a").bytes(), "the name of a template is not text"},
      {Maker().string("tokenizer.ggml.bos_token_id", "1").bytes(), "is of type string, not an integer"},
      {Maker().u32("tokenizer.ggml.bos_token_id", 1).u32("tokenizer.ggml.bos_token_id", 1).bytes(),
       "stands there twice"},
      {Maker().u32("tokenizer.ggml.add_bos_token", 1).bytes(), "is of type uint32, not bool"},
      {Maker().flag("tokenizer.ggml.add_bos_token", 2).bytes(), "is 2, neither 0 nor 1"},
      {Maker().u32("\x1b[31m\xff", 1).pair("\x1b[31m\xff", Maker::kString).number(5, 8).bytes(), "in '?[31m?'"},
  };
  for (const auto& row : rows) {
    const Result<GgufHeader> header = read_gguf(row.bytes, "m.gguf");
    ASSERT_FALSE(header.has_value()) << row.said;
    const Error& error = header.error();
    EXPECT_EQ(error.code(), ErrorCode::model_file);
    EXPECT_NE(error.display().find(row.said), std::string::npos) << error.display() << row.said;
    EXPECT_NE(error.display().find("m.gguf: damaged model: at byte "), std::string::npos) << error.display();
    EXPECT_LE(error.where().begin, row.bytes.size());
  }
}

TEST(Gguf, CutOffAnywhere) {
  const std::string whole = some_model().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // A copy of its own, so that a sanitizer sees a byte read too many.
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const Result<GgufHeader> header = read_gguf({cut.data(), cut.size()}, "m");
    ASSERT_FALSE(header.has_value()) << size;
    EXPECT_LE(header.error().where().begin, size);
  }
  EXPECT_TRUE(read_gguf(whole, "m").has_value());
}

TEST(Gguf, WithoutATemplate) {
  const ModelFolder folder({{"m.gguf", GgufMaker().strings(kTokensKey, {"a"}).bytes()},
                            {"p.gguf", GgufMaker().string("general.type", "mmproj").bytes()}});
  EXPECT_NE(failure(folder.open("m.gguf")).find("looked for the keys tokenizer.chat_template"), std::string::npos);
  EXPECT_TRUE(failure(folder.open("m.gguf")).starts_with("no_template "));
  EXPECT_NE(failure(folder.open("p.gguf")).find("general.type is 'mmproj'"), std::string::npos);
}

TEST(Gguf, FactsOfWeights) {
  const auto with_type = [](std::uint32_t type) {
    return some_model().string("general.size_label", "135M").u32("general.file_type", type).bytes();
  };
  const ModelFolder folder({{"m.gguf", with_type(15)},
                            {"gone.gguf", with_type(4)},
                            {"none.gguf", with_type(4000000000)},
                            {"plain.gguf", some_model().bytes()}});
  const auto weights = [&folder](const char* name) {
    const Result<ModelSource> source = folder.open(name);
    return source ? source->weights : WeightFacts{.size = source.error().display()};
  };
  EXPECT_EQ(weights("m.gguf").size, "135M");
  EXPECT_EQ(weights("m.gguf").quantization, "Q4_K_M");
  for (const char* name : {"gone.gguf", "none.gguf", "plain.gguf"}) EXPECT_EQ(weights(name).quantization, "") << name;
  EXPECT_EQ(weights("plain.gguf").size, "");
}

TEST(Gguf, LaterPartsLeadToTheFirst) {
  const auto part = [](int number) {
    GgufMaker maker = number == 0 ? some_model() : GgufMaker();
    return maker.pair("split.no", GgufMaker::kU16)
        .number(static_cast<std::uint64_t>(number), 2)
        .u32("split.count", 2)
        .bytes();
  };
  const ModelFolder folder({{"m-00001-of-00002.gguf", part(0)},
                            {"m-00002-of-00002.gguf", part(1)},
                            {"other.gguf", part(1)},
                            {"alone/n-00002-of-00002.gguf", part(1)}});
  for (const char* name : {"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"}) {
    const Result<ModelSource> source = folder.open(name);
    ASSERT_TRUE(source.has_value()) << source.error().display();
    EXPECT_EQ(source->path, folder.path("m-00001-of-00002.gguf"));
  }
  EXPECT_NE(failure(folder.open("other.gguf")).find("part 2 of a split model of 2 files"), std::string::npos);
  EXPECT_NE(failure(folder.open("alone/n-00002-of-00002.gguf")).find("n-00001-of-00002.gguf is not there"),
            std::string::npos);
}

TEST(Gguf, AFolderOfOneModelIsThatModel) {
  const std::string model = some_model().bytes();
  const ModelFolder one({{"m-00001-of-00002.gguf", model}, {"m-00002-of-00002.gguf", model}, {"config.json", "{}"}});
  EXPECT_TRUE(one.open().has_value());
  const ModelFolder two({{"a.gguf", model}, {"b.gguf", model}});
  EXPECT_NE(failure(two.open()).find("several GGUF files: 'a.gguf', 'b.gguf'"), std::string::npos);
  const ModelFolder own({{"a.gguf", model}, {"chat_template.jinja", "own"}});
  EXPECT_EQ(texts(*own.open()), (Texts{{"default", "own"}}));
}

TEST(Gguf, FilesThatCannotBeRead) {
  const ModelFolder folder({{"empty.gguf", ""}, {"folder.gguf/x", ""}});
  EXPECT_TRUE(failure(folder.open("empty.gguf")).starts_with("model_file "));
  EXPECT_TRUE(failure(folder.open("folder.gguf")).starts_with("no_template "));
  EXPECT_NE(failure(folder.open("emty.gguf")).find("did you mean 'empty.gguf'?"), std::string::npos);
}

}  // namespace
}  // namespace parlance
