// Models by name: Ollama's store, Hugging Face's cache, and what is said when there is none of that
// name.
#include <gtest/gtest.h>

#include "folder.h"
#include "gguf_maker.h"
#include "sources/ollama_name.h"

namespace parlance {
namespace {

using Strings = std::vector<std::string>;

// ---- names

TEST(OllamaName, PartsAndDefaults) {
  const struct {
    std::string text;
    std::string path;  // "": no name
    std::string shortest = {};
  } rows[] = {
      {"m", "registry.ollama.ai/library/m/latest", "m:latest"},
      {"m:7b", "registry.ollama.ai/library/m/7b", "m:7b"},
      {"ns/m", "registry.ollama.ai/ns/m/latest", "ns/m:latest"},
      {"hf.co/org/repo:Q4_K_M", "hf.co/org/repo/Q4_K_M", "hf.co/org/repo:Q4_K_M"},
      {"localhost:5000/ns/m", "localhost:5000/ns/m/latest", "localhost:5000/ns/m:latest"},
      {"https://example.com/ns/m:x", "example.com/ns/m/x", "example.com/ns/m:x"},
      {"ollama.com/library/m", "ollama.com/library/m/latest", "m:latest"},
      {"M.1-b_c:t.1", "registry.ollama.ai/library/M.1-b_c/t.1", "M.1-b_c:t.1"},
      {std::string(80, 'm'), "registry.ollama.ai/library/" + std::string(80, 'm') + "/latest",
       std::string(80, 'm') + ":latest"},
      {"", ""},
      {":x", ""},
      {"m:", ""},
      {"/m", ""},
      {"ns/", ""},
      {"ns//m", ""},
      {"..", ""},
      {"../m", ""},
      {"m/..", ""},
      {"a.b/m", ""},
      {"h/a/b/c", ""},
      {"-m", ""},
      {"m:-x", ""},
      {"m:a:b", ""},
      {"m m", ""},
      {"m\\n", ""},
      {std::string("m\0x", 3), ""},
      {std::string(81, 'm'), ""},
  };
  for (const auto& row : rows) {
    const std::optional<OllamaName> name = parse_ollama_name(row.text);
    EXPECT_EQ(name ? name->path() : "", row.path) << row.text;
    if (name) {
      EXPECT_EQ(name->shortest(), row.shortest) << row.text;
    }
  }
}

TEST(OllamaName, CaseDoesNotCount) {
  EXPECT_TRUE(parse_ollama_name("M:7B")->is(*parse_ollama_name("ollama.com/Library/m:7b")));
  EXPECT_FALSE(parse_ollama_name("m:7b")->is(*parse_ollama_name("m:8b")));
  EXPECT_FALSE(parse_ollama_name("m")->is(*parse_ollama_name("hf.co/library/m")));
}

// ---- Ollama's store

std::string digest(char c) { return "sha256:" + std::string(64, c); }
std::string blob(char c) { return "blobs/sha256-" + std::string(64, c); }
std::string layer(std::string_view kind, char c) {
  return R"({"mediaType": "application/vnd.ollama.image.)" + std::string(kind) + R"(", "digest": ")" + digest(c) +
         R"("})";
}
std::string manifest(const std::string& layers, const std::string& more = "") {
  return R"({"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json", )" + more +
         R"("layers": [)" + layers + "]}";
}

const std::string kGguf = GgufMaker()
                              .strings("tokenizer.ggml.tokens", {"<s>"})
                              .u32("tokenizer.ggml.bos_token_id", 0)
                              .string("tokenizer.chat_template", "jinja")
                              .bytes();

/// Blobs a to g, and manifests of some models.
Texts store() {
  const std::string library = "manifests/registry.ollama.ai/library/";
  return {
      {blob('a'), kGguf},
      {blob('b'), "{{ .Prompt }}"},
      {blob('c'), "be kind"},
      {blob('d'), R"({"stop": ["<|a|>", "<|b|>"], "temperature": 0.7, "num_ctx": 4096, "penalize_newline": false})"},
      {blob('e'), R"([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}])"},
      {blob('f'), R"({"model_format": "gguf", "renderer": "some-code"})"},
      {library + "full/latest",
       manifest(layer("model", 'a') + "," + layer("template", 'b') + "," + layer("system", 'c') + "," +
                layer("params", 'd') + "," + layer("messages", 'e') + "," + layer("license", '0'))},
      {library + "plain/7b", manifest(layer("model", 'a'), R"("config": {"digest": ")" + digest('f') + R"("},)")},
      {library + "bare/latest", manifest(layer("template", 'b'))},
      {library + "pruned/latest", manifest(layer("template", 'b') + "," + layer("model", '1'))},
      {library + "gone/latest", manifest(layer("model", '1'))},
      {library + "gone2/latest", manifest(layer("template", '1'))},
      {library + "evil/latest",
       manifest(R"({"mediaType": "application/vnd.ollama.image.template", "digest": "sha256:../../x"})")},
      {library + "broken/latest", "{"},
      {library + "empty/latest", "{}"},
      {"manifests/hf.co/Org/Repo-GGUF/Q4_K_M", manifest(layer("model", 'a'))},
      {"manifests-v2/ollama.com/library/newer/latest",
       R"({"mediaType": "application/vnd.ollama.manifest.list.v2+json", "manifests": [
            {"runner": "mlx", "layers": []}, {"runner": "ollama", "digest": ")" +
           digest('9') + R"("}]})"},
      {blob('9'), manifest(layer("template", 'b') + "," + layer("system", 'c'))},
      {"manifests-v2/ollama.com/library/other/latest",
       R"({"mediaType": "application/vnd.ollama.manifest.list.v2+json", "manifests": [{"runner": "x"}]})"},
  };
}

class OllamaStore : public ::testing::Test {
 protected:
  OllamaStore() : folder_(store()) { stores_.ollama = folder_.path(); }
  Result<ModelSource> open(const std::string& name) const { return open_model(name, stores_); }
  ModelFolder folder_;
  ModelStores stores_;
};

TEST_F(OllamaStore, EveryLayer) {
  const Result<ModelSource> source = open("full");
  ASSERT_TRUE(source.has_value()) << source.error().display();
  EXPECT_EQ(source->path, "full:latest");
  EXPECT_EQ(texts(*source), (Texts{{"default", "{{ .Prompt }}"}}));
  EXPECT_EQ(source->templates[0].syntax, Syntax::go);
  EXPECT_TRUE(source->templates[0].origin.starts_with("full:latest (template layer, " + folder_.path()))
      << source->templates[0].origin;
  EXPECT_EQ(source->system, "be kind");
  EXPECT_EQ(messages(*source), (Strings{"user: q", "assistant: a"}));
  EXPECT_EQ(parameters(*source),
            (Strings{"stop=<|a|>", "stop=<|b|>", "temperature=0.7", "num_ctx=4096", "penalize_newline=false"}));
  EXPECT_EQ(tokens(*source), (Texts{{"bos_token", "<s>"}}));
}

TEST_F(OllamaStore, WithoutATemplateLayerTheGgufsOwn) {
  const Result<ModelSource> source = open("PLAIN:7B");
  ASSERT_TRUE(source.has_value()) << source.error().display();
  EXPECT_EQ(texts(*source), (Texts{{"default", "jinja"}}));
  EXPECT_EQ(source->templates[0].syntax, Syntax::jinja);
  ASSERT_EQ(source->notes.size(), 1u);
  EXPECT_NE(source->notes[0].find("'some-code'"), std::string::npos);
}

TEST_F(OllamaStore, NamesAndLayouts) {
  for (const char* name : {"full", "full:latest", "library/full", "registry.ollama.ai/library/full:latest",
                           "https://ollama.com/library/full", "Full", "bare", "newer", "hf.co/org/repo-gguf:q4_k_m"}) {
    EXPECT_TRUE(open(name).has_value()) << failure(open(name));
  }
  EXPECT_EQ((*open("newer")).system, "be kind");
  EXPECT_EQ(texts(*open("pruned")), (Texts{{"default", "{{ .Prompt }}"}}));
  EXPECT_NE((*open("pruned")).notes[0].find("its weights were not read"), std::string::npos);
}

TEST_F(OllamaStore, WhatIsDamaged) {
  const struct {
    std::string name;
    std::string said;
  } rows[] = {
      {"gone", "file "},
      {"gone", "pull the model again"},
      {"gone2", "pull the model again"},
      {"evil", "model_file "},
      {"evil", "is not sha256: and 64 hexadecimal digits"},
      {"broken", "json "},
      {"empty", "no list of `layers`"},
      {"other", "a list of manifests with none of ollama"},
  };
  for (const auto& row : rows) {
    EXPECT_NE(failure(open(row.name)).find(row.said), std::string::npos) << failure(open(row.name));
  }
}

TEST_F(OllamaStore, WhatIsNotThere) {
  const std::string said = failure(open("ful"));
  EXPECT_NE(said.find("not in Ollama's store " + folder_.path() + ", which has 'bare:latest', 'broken:latest'"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("did you mean 'full'?"), std::string::npos) << said;
  EXPECT_NE(failure(open("plain")).find("'plain:7b'"), std::string::npos);
  // What looks like a path is a path.
  EXPECT_EQ(failure(open("./ful")).find("store"), std::string::npos);
  EXPECT_EQ(failure(open("/ful")).find("store"), std::string::npos);
  EXPECT_EQ(failure(open_model("full")).find("store"), std::string::npos);
  ModelStores none;
  none.ollama = folder_.path("nowhere");
  EXPECT_NE(failure(open_model("full", none)).find("which is not there"), std::string::npos);
}

TEST_F(OllamaStore, AModelfilesFrom) {
  folder_.write("Modelfile", "FROM full\nSYSTEM own\nPARAMETER stop x");
  const Result<ModelSource> source = open(folder_.path("Modelfile"));
  ASSERT_TRUE(source.has_value()) << source.error().display();
  EXPECT_EQ(texts(*source), (Texts{{"default", "{{ .Prompt }}"}}));
  EXPECT_EQ(source->system, "own");
  EXPECT_EQ(messages(*source), (Strings{"user: q", "assistant: a"}));
  EXPECT_EQ(parameters(*source), (Strings{"temperature=0.7", "num_ctx=4096", "penalize_newline=false", "stop=x"}));
}

// ---- Hugging Face's cache

class HfCache : public ::testing::Test {
 protected:
  HfCache()
      : folder_({
            {"models--org--name/refs/main", "c1\n"},
            {"models--org--name/refs/refs/pr/1", "c2"},
            {"models--org--name/snapshots/c1/chat_template.jinja", "one"},
            {"models--org--name/snapshots/c2/chat_template.jinja", "two"},
            {"models--old/snapshots/x/chat_template.jinja", "old"},
            {"models--org--many/snapshots/a/chat_template.jinja", "a"},
            {"models--org--many/snapshots/b/chat_template.jinja", "b"},
            {"models--org--empty/refs/main", "c9"},
            {"models--org--evil/refs/main", "../../models--org--name/snapshots/c1"},
            {"models--org--evil/snapshots/.keep", ""},
            {"models--org--gguf/snapshots/x/m.gguf", kGguf},
            {"datasets--org--d/snapshots/x/y", ""},
        }) {
    stores_.hf_cache = folder_.path();
  }
  Result<ModelSource> open(const std::string& name) const { return open_model(name, stores_); }
  ModelFolder folder_;
  ModelStores stores_;
};

TEST_F(HfCache, ByNameAndByFolder) {
  const struct {
    std::string name;
    std::string text;
  } rows[] = {
      {"org/name", "one"},
      {"org/name@main", "one"},
      {"org/name@c2", "two"},
      {"org/name@refs/pr/1", "two"},
      {"old", "old"},
      {"org/gguf", "jinja"},
      {"org/many@b", "b"},
      {folder_.path("models--org--name"), "one"},
      {folder_.path("models--org--name/"), "one"},
      {folder_.path("models--org--name/snapshots/c2"), "two"},
  };
  for (const auto& row : rows) {
    const Result<ModelSource> source = open(row.name);
    ASSERT_TRUE(source.has_value()) << source.error().display();
    EXPECT_EQ(texts(*source), (Texts{{"default", row.text}})) << row.name;
  }
}

TEST_F(HfCache, WhatIsNotThere) {
  const struct {
    std::string name;
    std::string said;
  } rows[] = {
      {"org/many", "no snapshot of main; there is 'a', 'b'"},
      {"org/many", "org/name@a"},
      {"org/name@c3", "no snapshot 'c3'; there is 'c1', 'c2'"},
      {"org/name@../x", "no snapshot '../x'"},
      {"org/empty", "the model was not downloaded to its end"},
      {"org/evil", "no snapshot of main"},
      {"org/nam", "did you mean 'org/name'?"},
      {"org/d", "not in Hugging Face's cache"},
      {"../name", "No such file"},
  };
  for (const auto& row : rows) {
    const std::string said = failure(open(row.name));
    EXPECT_NE(said.find(row.said), std::string::npos) << row.name << "\n" << said;
  }
}

// ---- the environment

Texts environment;
const char* variable(const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? nullptr : found->second.c_str();
}

TEST(ModelStores, ByTheEnvironment) {
  const struct {
    Texts environment;
    std::string ollama, hf_cache;
  } rows[] = {
      {{}, "", ""},
      {{{"HOME", "/h"}}, "/h/.ollama/models", "/h/.cache/huggingface/hub"},
      {{{"HOME", "/h"}, {"OLLAMA_MODELS", " \"/m\" "}, {"XDG_CACHE_HOME", "/c"}}, "/m", "/c/huggingface/hub"},
      {{{"HOME", "/h"}, {"HF_HOME", "~/hf"}, {"XDG_CACHE_HOME", "/c"}}, "/h/.ollama/models", "/h/hf/hub"},
      {{{"HOME", "/h"}, {"HF_HOME", "/hf"}, {"HUGGINGFACE_HUB_CACHE", "/old"}}, "/h/.ollama/models", "/old"},
      {{{"HF_HUB_CACHE", "/new"}, {"HUGGINGFACE_HUB_CACHE", "/old"}}, "", "/new"},
  };
  for (const auto& row : rows) {
    environment = row.environment;
    const ModelStores stores = model_stores(variable);
    EXPECT_EQ(stores.ollama, row.ollama);
    EXPECT_EQ(stores.hf_cache, row.hf_cache);
  }
}

TEST(ModelStores, WithoutAnEnvironmentAreNone) {
  const ModelStores stores = model_stores(nullptr);
  EXPECT_EQ(stores.ollama + stores.hf_cache + stores.home, "");
}

}  // namespace
}  // namespace parlance
