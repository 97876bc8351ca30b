// SentencePiece models: what is refused, and how a text is split, encoded and guarded. Trained models are held against
// SentencePiece itself by tests/oracle/sentencepiece_oracle.py.
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "parlance/session.h"
#include "share.h"
#include "sp_maker.h"
#include "tokenizers/adapters.h"
#include "tokenizers/sentencepiece_charsmap.h"

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

TEST(SpModel, damaged_ones_are_refused) {
  const std::string whole = small_model().made();
  for (std::size_t size = 0; size < whole.size(); ++size)
    (void)read_sp_model(std::string_view(whole).substr(0, size), "m");
  EXPECT_EQ(fault(""), "m: not a SentencePiece model: it has no pieces");
  EXPECT_EQ(fault("hello"), "m: not a SentencePiece model, or a damaged one: byte 3");
  EXPECT_EQ(fault(whole.substr(0, 9)), "m: not a SentencePiece model, or a damaged one: byte 2");
  EXPECT_EQ(fault(small_model().piece("").made()), "m: piece 15 has no text");
  EXPECT_EQ(fault(small_model().piece("\xff").made()), "m: piece 15 is not UTF-8");
  EXPECT_EQ(fault(small_model().piece(std::string("a\0b", 3)).made()), "m: piece 15 has a zero byte");
  EXPECT_EQ(fault(small_model().piece(std::string(1024, 'a')).made()), "");
  EXPECT_EQ(fault(small_model().piece(std::string(1025, 'a')).made()), "m: piece 15 is longer than 1 KiB");
  EXPECT_EQ(fault(small_model().piece("q", SpType(7)).made()), "m: piece 15 is damaged");
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  for (const float score : {nan, infinite, -infinite, 1e10F})
    EXPECT_EQ(fault(small_model().piece("q", SpType::normal, score).made()), "m: piece 15 has an unusable score");
  EXPECT_EQ(fault(small_model().train(3, 9).made()), "m: a model of an unknown kind");
  EXPECT_EQ(fault(SpMaker().piece("<s>", SpType::control).made()), "m: none of its pieces is text");
  EXPECT_EQ(fault(SpMaker().piece("a").made()), "m: it has no piece for unknown text");
}

TEST(SpModel, pieces_that_fill_memory_are_refused) {
  SpMaker maker = small_model();
  for (std::size_t i = 0; i < std::size_t{16} << 10; ++i)
    maker.piece(std::to_string(100000 + i) + std::string(1018, 'a'));
  EXPECT_EQ(fault(maker.made()), "m: its pieces are longer than 16 MiB together");
}

TEST(SpModel, what_SentencePiece_has_no_room_for_is_refused) {
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

/// The texts "b" and `length` z's, and "a" and the last `tail` of these: the states of the tail are shared, and "a"
/// leads to them first.
CharsmapMaker with_shared_tail(std::size_t length, std::size_t tail) {
  CharsmapMaker map("q");
  map.units.resize((length + 3) * 256);
  for (std::uint32_t i = 0; i < map.units.size(); ++i) map.units[i] = (i & 0xFF) ^ 0x55;
  const auto link = [&map](std::size_t from, char byte, std::size_t to, bool is_end) {  // states by their blocks
    const std::size_t index = from * 256 + static_cast<std::uint8_t>(byte);
    map.units[index] =
        static_cast<std::uint32_t>((index ^ to * 256) << 10 | (is_end ? 256U : 0U)) | static_cast<std::uint8_t>(byte);
  };
  map.units[0] = 256U << 10;
  link(1, 'b', 2, false);
  link(1, 'a', 2 + length - tail, false);
  for (std::size_t i = 0; i < length; ++i) link(2 + i, 'z', 3 + i, i + 1 == length);
  map.units[(2 + length) * 256] = 1U << 31;
  return map;
}

TEST(Charsmap, texts_to_replace_have_a_longest_size_also_where_they_share_their_ends) {
  for (const std::size_t tail : {std::size_t{1}, std::size_t{55}, std::size_t{254}, std::size_t{255}}) {
    const CharsmapMaker good = with_shared_tail(255, tail);
    EXPECT_EQ(fault(good), "") << tail;
    const CharsmapRules rules(good.made());
    EXPECT_EQ(rules.longest("b" + std::string(300, 'z')).size, 256u);
    EXPECT_EQ(rules.longest("a" + std::string(300, 'z')).size, tail + 1);
    EXPECT_EQ(fault(with_shared_tail(256, tail)), "is damaged") << tail;
    EXPECT_EQ(fault(with_shared_tail(400, tail)), "is damaged") << tail;
  }
}

TEST(Charsmap, replacements_that_fill_memory_or_are_no_text_are_refused) {
  EXPECT_EQ(fault(CharsmapMaker(std::string(257, 'b'))), "is damaged");
  EXPECT_EQ(fault(CharsmapMaker("\xff\xff\xff\xff")), "is damaged");
  CharsmapMaker endless("b");
  endless.texts.pop_back();
  EXPECT_EQ(fault(endless), "is damaged");
}

// ---- encoding

class SentencePiece : public ::testing::Test {
 protected:
  void open(const SpMaker& maker, const SentencePieceOptions& options = {}, const std::vector<AddedToken>& added = {}) {
    bytes_ = maker.made();
    auto opened = open_sentencepiece(bytes_, "m", options, added);
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
      all += tokenizer_->token_text(t.id) + "@" + std::to_string(t.bytes.begin) + "-" + std::to_string(t.bytes.end);
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
  if (HasFatalFailure()) return

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

TEST_F(SentencePiece, guards_what_the_model_finds_by_itself) {
  OPEN(small_model());
  EXPECT_EQ(encoded("a<|x|>b", std::vector<ByteSpan>{}), " @0-0  a@0-1  <@1-2  |@2-3  x@3-4  |@4-5  >@5-6  b@6-7  ");
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

/// A rule may make 256 bytes of one: what a run becomes has a limit of 16 times its size and 1 MiB.
TEST_F(SentencePiece, normalising_does_not_fill_memory) {
  OPEN(small_model().charsmap(CharsmapMaker(std::string(256, 'b')).made()));
  EXPECT_TRUE(encoded("a").starts_with(" @0-0  b@0-1  "));
  EXPECT_TRUE(encoded(std::string(testing::is_sparse() ? 400 : 4000, 'a')).starts_with(" @0-0  b@0-1  "));
  EXPECT_EQ(encoded(std::string(8000, 'a')),
            "limit_memory: the vocabulary's normalisation makes more than 1176576 bytes of a run of 8000");
  EXPECT_EQ(encoded(std::string(8000, 'a'), std::vector<ByteSpan>{}), encoded(std::string(8000, 'a')));
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
  EXPECT_EQ(encoded("<s> <|x|>a", {{0, 3}}), "<s>@0-3!  @3-4  <@4-5  |@5-6  x@6-7  |@7-8  >@8-9  a@9-10  ");
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

/// Of equal sums the one counts that is found first, also where the exact sums of rounded scores would differ.
TEST_F(SentencePiece, ties_of_unigram_go_as_in_sentencepiece) {
  for (const float score : {-1.5F, -0.1F, -3.3F, -7.7F, -0.7F}) {
    SpMaker maker = SpMaker()
                        .piece("<unk>", SpType::unknown)
                        .piece("0", SpType::normal, score)
                        .piece("00", SpType::normal, score * 1.7F);
    OPEN(maker.train(3, 1).normalize(3, 0).normalize(4, 0));
    EXPECT_EQ(encoded("000"), "0@0-1  00@1-3  ") << score;
    EXPECT_EQ(encoded("0000"), "00@0-2  00@2-4  ") << score;
    EXPECT_EQ(encoded("0x0"), "0@0-1  <unk>@1-2  0@2-3  ") << score;
  }
}

TEST_F(SentencePiece, pieces_that_contradict_each_other_are_an_error) {
  OPEN(small_model());
  const auto said = [](const SpMaker& maker) {
    const std::string bytes = maker.made();
    const auto opened = open_sentencepiece(bytes, "m", {}, {});
    return opened ? "" : std::string(facts(opened.error().code()).name) + ": " + opened.error().message();
  };
  constexpr unsigned kByteFallback = 35;
  EXPECT_EQ(said(small_model().piece("ab")), "tokenizer: m: piece 15 has the text of another");
  EXPECT_EQ(said(small_model().piece("<u>", SpType::unknown)), "tokenizer: m: it has two pieces for unknown text");
  EXPECT_EQ(said(small_model().piece("<0x0A>", SpType::byte).train(kByteFallback, 0)),
            "tokenizer: m: piece 15 is of a byte, and the model says that there are none");
  EXPECT_EQ(
      said(SpMaker().piece("<unk>", SpType::unknown).piece("a").piece("<0xZZ>", SpType::byte).train(kByteFallback, 1)),
      "tokenizer: m: piece 2 is of a byte, and its text is none");
  EXPECT_EQ(said(SpMaker().piece("<unk>", SpType::unknown).piece("a").train(kByteFallback, 1)),
            "tokenizer: m: it has no piece for some byte");
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
  const auto compiled = Template::compile("{% for m in messages %}<|x|>{{ m.content }}<|x|>{% endfor %}");
  auto session = Session::begin(*compiled, counting, std::move(chat));
  ASSERT_TRUE(session) << session.error().display();
  for (int turn = 0; turn < 3; ++turn) {
    counting.bytes = 0;
    const std::vector<Message> more = {{.role = "user", .content = "ab"}};
    ASSERT_TRUE(session->extend(more));
    EXPECT_LT(counting.bytes, 100u) << "turn " << turn;
  }
  const auto whole = compiled->render(session->conversation());
  EXPECT_EQ((*tokenize(*whole, session->conversation(), counting)).ids,
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
    EXPECT_EQ((*tokenize(*whole, session->conversation(), *tokenizer_)).ids,
              std::vector<TokenId>(session->ids().begin(), session->ids().end()));
  }
}

/// Of words, a model knows the whole or nothing, so nobody can write its unknown token's text by other tokens.
TEST_F(SentencePiece, text_of_the_unknown_token_is_unknown_text) {
  constexpr unsigned kAlgorithm = 3, kWords = 3;
  OPEN(small_model().train(kAlgorithm, kWords));
  const auto compiled = Template::compile("<s>{% for m in messages %}{{ m.content }}{% endfor %}");
  for (const char* text : {"zzxx", "zz<unk>xx", "<unk>", "<unk><unk>", " <unk>"}) {
    Conversation chat;
    ASSERT_TRUE(chat.add({.role = "user", .content = text}));
    const auto tokens = tokenize(*compiled->render(chat), chat, *tokenizer_);
    ASSERT_TRUE(tokens) << tokens.error().display();
    ASSERT_FALSE(tokens->ids.empty());
    EXPECT_EQ(tokens->ids[0], 1);
    for (std::size_t i = 1; i < tokens->ids.size(); ++i)
      EXPECT_TRUE(tokens->ids[i] == 0 || tokens->ids[i] == 4) << text;
    EXPECT_EQ(tokens->unknown.size(), 1u) << text;
    EXPECT_EQ(tokens->guarded.empty(), std::string_view(text) == "zzxx") << text;
  }
  // What else it must not give is still an error.
  Conversation chat;
  ASSERT_TRUE(chat.add({.role = "user", .content = "zz</s>"}));
  const auto tokens = tokenize(*compiled->render(chat), chat, *tokenizer_);
  ASSERT_TRUE(tokens);
  EXPECT_EQ(std::count(tokens->ids.begin(), tokens->ids.end(), 2), 0);
}

TEST_F(SentencePiece, many_threads_encode_at_once) {
  OPEN(small_model());
  const std::string wanted = encoded("ab<|x|> ab", std::vector<ByteSpan>{});
  std::vector<std::thread> threads;
  std::vector<int> different(4);
  for (std::size_t t = 0; t < different.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) different[t] += encoded("ab<|x|> ab", std::vector<ByteSpan>{}) != wanted;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, std::vector<int>(4));
}
#undef OPEN

}  // namespace
}  // namespace parlance
