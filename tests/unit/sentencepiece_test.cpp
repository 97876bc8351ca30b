// SentencePiece models: what is refused before the library sees it, and how a text is split,
// encoded and guarded. What the library itself makes of trained models is
// tests/oracle/sentencepiece_oracle.py.
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "parlance/session.h"
#include "sp_maker.h"
#include "tokenizers/adapters.h"

namespace parlance {
namespace {

std::string fault(const std::string& bytes) {
  const Result<SpModel> read = read_sp_model(bytes, "m");
  return read ? "" : read.error().message();
}

TEST(SpModel, reads_what_decides_an_encoding) {
  const std::string bytes = small_model().made();
  const Result<SpModel> model = read_sp_model(bytes, "m");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->pieces.size(), 15u);
  EXPECT_EQ(model->pieces[3].text, "<|x|>");
  EXPECT_EQ(model->pieces[3].type, SpType::user_defined);
  EXPECT_EQ(model->pieces[13].score, -1);
  EXPECT_EQ(model->algorithm, SpAlgorithm::bpe);
  EXPECT_FALSE(model->remove_extra_whitespaces);
}

TEST(SpModel, is_written_with_changes) {
  const std::string bytes = small_model().made();
  SpChanges changes;
  changes.hidden = {false, true, false, true};
  changes.anchor = "!";
  const std::string written = write_sp_model(*read_sp_model(bytes, "m"), changes);
  EXPECT_EQ(fault(written), "m: piece 1 is not UTF-8");
  changes.hidden.clear();
  const std::string readable = write_sp_model(*read_sp_model(bytes, "m"), changes);
  const Result<SpModel> again = read_sp_model(readable, "m");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->pieces.size(), 16u);
  EXPECT_EQ(again->pieces[15].type, SpType::user_defined);
}

TEST(SpModel, damaged_ones_are_refused) {
  const std::string whole = small_model().made();
  for (std::size_t size = 0; size < whole.size(); ++size)
    (void)read_sp_model(std::string_view(whole).substr(0, size), "m");
  EXPECT_EQ(fault(""), "m: not a SentencePiece model: it has no pieces");
  EXPECT_EQ(fault("hello"), "m: not a SentencePiece model, or a damaged one: byte 3");
  EXPECT_EQ(fault(whole.substr(0, 9)), "m: not a SentencePiece model, or a damaged one: byte 2");
  EXPECT_EQ(fault(small_model().piece("").made()), "m: piece 15 has no text");
  EXPECT_EQ(fault(small_model().piece("\xff").made()), "m: piece 15 is not UTF-8");
  EXPECT_EQ(fault(small_model().piece(std::string("a\0b", 3)).made()),
            "m: piece 15 has a zero byte");
  EXPECT_EQ(fault(small_model().piece(std::string(5000, 'a')).made()),
            "m: piece 15 is longer than 4 KiB");
  EXPECT_EQ(fault(small_model().piece("q", SpType(7)).made()), "m: piece 15 is damaged");
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinite = std::numeric_limits<float>::infinity();
  for (const float score : {nan, infinite, -infinite, 1e10F})
    EXPECT_EQ(fault(small_model().piece("q", SpType::normal, score).made()),
              "m: piece 15 has a score that is no usable number");
  EXPECT_EQ(fault(small_model().train(3, 9).made()), "m: a model of an unknown kind");
  EXPECT_EQ(fault(SpMaker().piece("<s>", SpType::control).made()), "m: none of its pieces is text");
  EXPECT_EQ(fault(SpMaker().piece("a").made()), "m: it has no piece for what is unknown");
}

TEST(SpModel, what_the_library_has_no_room_for_is_refused) {
  SpMaker maker = small_model();
  for (int i = 1; i <= 32; ++i) maker.piece(std::string(std::size_t(i), '='), SpType::user_defined);
  EXPECT_EQ(fault(maker.made()), "");
  maker.piece(std::string(33, '='), SpType::user_defined);
  EXPECT_EQ(fault(maker.made()), "m: too many user-defined pieces that begin each other");
}

// ---- tables of normalisation

std::string fault(const CharsmapMaker& map) { return std::string(fault_of_charsmap(map.made())); }

TEST(Charsmap, good_ones_pass) {
  EXPECT_EQ(fault_of_charsmap(""), "");
  EXPECT_EQ(fault(CharsmapMaker("b")), "");
  EXPECT_EQ(fault(CharsmapMaker("")), "");
  EXPECT_EQ(fault(CharsmapMaker(std::string(256, 'b'))), "");
}

TEST(Charsmap, those_that_lead_out_of_it_are_refused) {
  EXPECT_EQ(fault_of_charsmap("abc"), "is too short");
  EXPECT_EQ(fault_of_charsmap(std::string(8, '\xff')), "is shorter than it says");
  CharsmapMaker root("b"), state("b"), leaf("b"), loop("b");
  root.units[0] = 256U << 10;
  EXPECT_EQ(fault(root), "is damaged");
  state.units[0x60] = 0x100U << 10 | 'a';
  EXPECT_EQ(fault(state), "is damaged");
  leaf.units[0x80] = 1U << 31 | 2;
  EXPECT_EQ(fault(leaf), "is damaged");
  loop.units[0x60] = 0x61U << 10 | 'a';  // back to where the links of the root begin
  EXPECT_EQ(fault(loop), "is damaged");
}

TEST(Charsmap, replacements_that_fill_memory_or_are_no_text_are_refused) {
  EXPECT_EQ(fault(CharsmapMaker(std::string(257, 'b'))), "is damaged");
  EXPECT_EQ(fault(CharsmapMaker("\xff\xff\xff\xff")), "is damaged");
  CharsmapMaker endless("b");
  endless.texts.pop_back();
  EXPECT_EQ(fault(endless), "is damaged");
}

// ---- with the library

class SentencePiece : public testing::Test {
 protected:
  void open(const SpMaker& maker, const SentencePieceOptions& options = {},
            const std::vector<AddedToken>& added = {}) {
    bytes_ = maker.made();
    auto opened = open_sentencepiece(bytes_, "m", options, added);
    if (!opened && opened.error().hint().find("PARLANCE_SENTENCEPIECE") != std::string::npos)
      GTEST_SKIP();
    ASSERT_TRUE(opened) << opened.error().message();
    tokenizer_ = std::move(*opened);
  }
  void TearDown() override { tokenizer_.reset(); }
  std::string encoded(std::string_view text, const std::vector<ByteSpan>* trusted = nullptr) const {
    std::vector<EncodedToken> tokens;
    if (const auto done = tokenizer_->encode(text, trusted, tokens); !done)
      return std::string(facts(done.error().code()).name) + ": " + done.error().message();
    std::string all;
    for (const EncodedToken& t : tokens) {
      all += tokenizer_->token_text(t.id) + "@" + std::to_string(t.bytes.begin) + "-" +
             std::to_string(t.bytes.end);
      all += t.added ? "! " : "  ";
    }
    return all;
  }
  std::string encoded(std::string_view text, const std::vector<ByteSpan>& trusted) const {
    return encoded(text, &trusted);
  }

  std::string bytes_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

#define OPEN(...)    \
  open(__VA_ARGS__); \
  if (IsSkipped()) return

TEST_F(SentencePiece, knows_its_tokens) {
  OPEN(small_model());
  const TokenizerFacts& facts = tokenizer_->facts();
  EXPECT_EQ(facts.kind, "SentencePiece, BPE");
  EXPECT_EQ(facts.vocabulary_size, 15u);
  EXPECT_EQ(facts.bos, 1);
  EXPECT_EQ(facts.eos, 2);
  EXPECT_EQ(facts.unk, 0);
  ASSERT_EQ(facts.added.size(), 4u);
  EXPECT_FALSE(facts.added[3].special);
  EXPECT_EQ(tokenizer_->token_text(4), " ");
  EXPECT_EQ(tokenizer_->token_text(-1), "");
  EXPECT_EQ(tokenizer_->token_text(15), "");
}

TEST_F(SentencePiece, splits_at_control_pieces) {
  OPEN(small_model());
  EXPECT_EQ(encoded("ab<s>ab"), " ab@0-2  <s>@2-5!  ab@5-7  ");
  EXPECT_EQ(encoded("a<|x|>b"), " @0-0  a@0-1  <|x|>@1-6! b@6-7  ");
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("\xff"), "value: the text to make tokens of is not UTF-8");
}

TEST_F(SentencePiece, guards_what_the_library_finds_by_itself) {
  OPEN(small_model());
  EXPECT_EQ(encoded("a<|x|>b", std::vector<ByteSpan>{}),
            " @0-0  a@0-1  <@1-2  |@2-3  x@3-4  |@4-5  >@5-6  b@6-7  ");
  EXPECT_EQ(encoded("a<|x|>b", {{0, 7}}), encoded("a<|x|>b"));
  EXPECT_EQ(encoded("<|x|>ab<|x|> ab<|x|>", {{7, 12}}),
            " @0-0  <@0-1  |@1-2  x@2-3  |@3-4  >@4-5  ab@5-7  <|x|>@7-12!  ab@12-15  <@15-16  "
            "|@16-17  x@17-18  |@18-19  "
            ">@19-20  ");
  EXPECT_EQ(encoded("<s>", std::vector<ByteSpan>{}), " @0-0  <@0-1  s@1-2  >@2-3  ");
}

/// As in a tokenizer.json: what a template writes there it means as a control token.
TEST_F(SentencePiece, an_ordinary_piece_that_is_written_like_a_control_token_is_one) {
  SpMaker maker = small_model();
  for (const std::string_view text : {"y", "<|", "<|y", "<|y|", "<|y|>"}) maker.piece(text, SpType::normal, -1);
  OPEN(maker);
  EXPECT_EQ(tokenizer_->facts().markers, std::vector<TokenId>{19});
  EXPECT_EQ(tokenizer_->facts().added.size(), 4u);
  const std::string plain = " @0-0  a@0-1  <|y|>@1-6  b@6-7  ";
  EXPECT_EQ(encoded("a<|y|>b"), plain);
  EXPECT_EQ(encoded("a<|y|>b", {{1, 6}}), plain);
  EXPECT_EQ(encoded("a<|y|>b", {{2, 7}}), " @0-0  a@0-1  <|y|@1-5  >@5-6  b@6-7  ");
  EXPECT_EQ(encoded("<|y|>a<|y|>", {{6, 11}}), " @0-0  <|y|@0-4  >@4-5  a@5-6  <|y|>@6-11  ");
}

TEST_F(SentencePiece, a_symbol_made_by_normalising_is_no_control_token) {
  OPEN(small_model().charsmap(CharsmapMaker("<|x|>").made()));
  EXPECT_EQ(encoded("a"), " @0-0  <|x|>@0-1! ");
  EXPECT_EQ(encoded("a", std::vector<ByteSpan>{}), " @0-0  <@0-1  |@0-1  x@0-1  |@0-1  >@0-1  ");
}

TEST_F(SentencePiece, numbers_special_tokens_from_the_end_on) {
  OPEN(small_model(), {.special_tokens = {"[gMASK]", "sop"}});
  EXPECT_EQ(tokenizer_->facts().vocabulary_size, 17u);
  EXPECT_EQ(encoded("[gMASK]sopab"), "[gMASK]@0-7! sop@7-10!  ab@10-12  ");
  EXPECT_EQ(encoded("sop", std::vector<ByteSpan>{}), " @0-0  s@0-1  <unk>@1-3  ");
}

TEST_F(SentencePiece, added_tokens_of_files) {
  OPEN(small_model(), {},
       {{.id = 13, .text = "ab"},
        {.id = 20, .text = "<e>", .lstrip = true},
        {.id = 5, .text = "other"},
        {-1, "</s>"},
        {-1, "no"}});
  EXPECT_EQ(tokenizer_->facts().vocabulary_size, 21u);
  EXPECT_EQ(encoded("ab a  <e>"), "ab@0-2!  @2-2   @2-3  a@3-4  <e>@6-9! ");
  EXPECT_EQ(encoded("ab", std::vector<ByteSpan>{}), " ab@0-2  ");
  EXPECT_EQ(encoded("aab", std::vector<ByteSpan>{}), " @0-0  a@0-1  a@1-2  b@2-3  ");
  EXPECT_EQ(tokenizer_->facts().notes,
            std::vector<std::string>{"added token 'other' left out: its id 5 is that of 'a'"});
}

TEST_F(SentencePiece, the_dummy_prefix_at_the_beginning_only) {
  OPEN(small_model().normalize(4, 1), {.prefix_each_run = false});
  EXPECT_EQ(encoded("ab<s>ab"), " ab@0-2  <s>@2-5! ab@5-7  ");
  EXPECT_EQ(encoded("<s>ab"), "<s>@0-3! ab@3-5  ");
  EXPECT_EQ(encoded("<s>  ab"),
            "<s>@0-3!  ab@3-7  ");  // one of two blanks, as where they stand inside of a text
  EXPECT_EQ(encoded("<s> <|x|>a", {{0, 3}}),
            "<s>@0-3!  @3-4  <@4-5  |@5-6  x@6-7  |@7-8  >@8-9  a@9-10  ");
  EXPECT_EQ(encoded("<s> <|x|>a", {{0, 3}, {4, 9}}), "<s>@0-3!  @3-4  <|x|>@4-9! a@9-10  ");
}

TEST_F(SentencePiece, digits_and_white_space_are_text) {
  OPEN(small_model()
           .piece("7", SpType::user_defined)
           .piece("\n", SpType::user_defined)
           .piece("\ue000", SpType::user_defined));
  EXPECT_EQ(encoded("7\n\ue000", std::vector<ByteSpan>{}), " @0-0  7@0-1! \n@1-2! <unk>@2-5  ");
}

TEST_F(SentencePiece, a_control_piece_of_one_character_does_not_stop_a_text) {
  OPEN(small_model().piece("#", SpType::control));
  EXPECT_EQ(encoded("#", {{0, 1}}), "#@0-1! ");
  EXPECT_EQ(encoded("a#", std::vector<ByteSpan>{}), " @0-0  a@0-1  <unk>@1-2  ");
}

TEST_F(SentencePiece, byte_pieces_have_their_bytes) {
  SpMaker maker = small_model().train(35, 1);
  for (int i = 0; i < 256; ++i) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", unsigned(i));
    maker.piece(text, SpType::byte);
  }
  OPEN(maker);
  EXPECT_EQ(encoded("é\na"), " @0-0  \xc3@0-1  \xa9@1-2  \n@2-3  a@3-4  ");
}

TEST_F(SentencePiece, what_the_library_refuses_is_an_error) {
  OPEN(small_model());
  const std::string twice = small_model().piece("ab").made();
  const auto opened = open_sentencepiece(twice, "m", {}, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::tokenizer);
  EXPECT_TRUE(opened.error().message().starts_with("m: SentencePiece cannot read the model: "))
      << opened.error().message();
  EXPECT_FALSE(open_sentencepiece(bytes_, "m", {.special_tokens = {""}}, {}));
}

/// A tokenizer that counts what it is given.
class Counting final : public Tokenizer {
 public:
  explicit Counting(const Tokenizer& inner) : inner_(inner) { facts_ = inner.facts(); }
  Result<void> encode(std::string_view text, const std::vector<ByteSpan>* trusted,
                      std::vector<EncodedToken>& into) const override {
    bytes += text.size();
    return inner_.encode(text, trusted, into);
  }
  std::string token_text(TokenId id) const override { return inner_.token_text(id); }

  mutable std::size_t bytes = 0;

 private:
  const Tokenizer& inner_;
};

/// A symbol is within a run, and the text from it on would get a dummy prefix that is not there.
TEST_F(SentencePiece, a_session_encodes_from_the_last_symbol_on) {
  OPEN(small_model());
  const Counting counting(*tokenizer_);
  Conversation chat;
  ASSERT_TRUE(chat.add({.role = "user", .content = std::string(3000, 'a')}));
  const auto compiled =
      Template::compile("{% for m in messages %}<|x|>{{ m.content }}<|x|>{% endfor %}");
  auto session = Session::begin(*compiled, counting, std::move(chat));
  ASSERT_TRUE(session) << session.error().display();
  for (int turn = 0; turn < 3; ++turn) {
    counting.bytes = 0;
    const std::vector<Message> more = {{.role = "user", .content = "ab"}};
    ASSERT_TRUE(session->extend(more));
    EXPECT_LT(counting.bytes, 100u) << "turn " << turn;
  }
  const auto whole = compiled->render(session->conversation());
  EXPECT_EQ(tokenize(*whole, session->conversation(), counting)->ids,
            std::vector<TokenId>(session->ids().begin(), session->ids().end()));
}

/// Two blanks as a symbol: a dummy prefix before the last of them would be in it, and all behind it would shift.
TEST_F(SentencePiece, a_session_does_not_encode_from_blanks_on) {
  SpMaker maker = small_model();
  maker.piece("\u2581\u2581", SpType::user_defined);
  OPEN(maker);
  Conversation chat;
  ASSERT_TRUE(chat.add({.role = "user", .content = "ab"}));
  const auto compiled = Template::compile("{% for m in messages %}{{ m.content }}{% endfor %}");
  auto session = Session::begin(*compiled, *tokenizer_, std::move(chat));
  ASSERT_TRUE(session) << session.error().display();
  for (const char* text : {"ab    ", "ab"}) {
    const std::vector<Message> more = {{.role = "user", .content = text}};
    ASSERT_TRUE(session->extend(more));
    const auto whole = compiled->render(session->conversation());
    EXPECT_EQ(tokenize(*whole, session->conversation(), *tokenizer_)->ids,
              std::vector<TokenId>(session->ids().begin(), session->ids().end()));
  }
}

TEST_F(SentencePiece, many_threads_encode_at_once) {
  OPEN(small_model());
  const std::string wanted = encoded("ab<|x|> ab", std::vector<ByteSpan>{});
  std::vector<std::thread> threads;
  std::vector<int> different(4);
  for (std::size_t t = 0; t < different.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i)
        different[t] += encoded("ab<|x|> ab", std::vector<ByteSpan>{}) != wanted;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, std::vector<int>(4));
}

}  // namespace
}  // namespace parlance
