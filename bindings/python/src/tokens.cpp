// Tokenizer and Tokens. Begin reading at bind_tokens.
#include "parlance/tokens.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstring>
#include <limits>

#include "errors.h"
#include "gil.h"
#include "names.h"
#include "pickles.h"
#include "prompt.h"
#include "templates.h"
#include "tokenizers.h"

namespace parlance::python {

using namespace nb::literals;

// ---- tokenizers

TokenId id_of(nb::handle object) {
  const nb::object number = made_by_python(
      at_python([&] { return PyNumber_Index(object.ptr()); }));  // 'str' object cannot be interpreted as an integer
  int overflow = 0;
  const long long id = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || id < 0 || id > std::numeric_limits<TokenId>::max())
    raise_at(PyExc_ValueError, "",
             std::string("an id of a token is from 0 to 2147483647, not ") + nb::str(number).c_str());
  return static_cast<TokenId>(id);
}

std::shared_ptr<const Tokenizer> tokenizer_of_callables(nb::object encode, nb::object token_text,
                                                        std::vector<AddedToken> added, TokenizerFacts facts) {
  // Python objects are let go of with the GIL held, wherever the tokenizer ends.
  struct Held {
    nb::object encode, token_text;
    ~Held() {
      const GilAcquire acquire;
      encode.reset();
      token_text.reset();
    }
  };
  const auto held = std::make_shared<Held>(Held{std::move(encode), std::move(token_text)});
  CallbackTokenizer::Parts parts;
  parts.added = std::move(added);
  parts.facts = std::move(facts);
  parts.encode = [held](std::string_view run, std::vector<TokenId>& ids) -> Result<void> {
    const GilAcquire acquire;
    try {
      PythonItems items(call_python(held->encode, text_to_python(run)));
      for (nb::object id = items.next(); id.is_valid(); id = items.next()) ids.push_back(id_of(id));
      return {};
    } catch (nb::python_error& error) {
      keep_interrupt(error);
      return Error(ErrorCode::tokenizer, std::string("the tokenizer's encode raised: ") + error.what());
    } catch (std::exception& error) {
      return Error(ErrorCode::tokenizer, std::string("the tokenizer's encode raised: ") + error.what());
    }
  };
  parts.token_text = [held](TokenId id) -> std::string {
    const GilAcquire acquire;
    try {
      const nb::object text = call_python(held->token_text, id);
      if (PyBytes_Check(text.ptr()) != 0) {
        const nb::bytes bytes = nb::borrow<nb::bytes>(text);
        return {static_cast<const char*>(bytes.data()), bytes.size()};
      }
      if (PyUnicode_Check(text.ptr()) == 0) {
        PyErr_Format(PyExc_TypeError, "the text of token %d is a %s, not str or bytes", int{id},
                     nb::type_name(text.type()).c_str());
        throw nb::python_error();
      }
      nb::object kept;
      return std::string(utf8_of(text, kept));
    } catch (nb::python_error& error) {
      keep_raised(error);
      return {};
    }
  };
  return std::make_shared<CallbackTokenizer>(std::move(parts));
}

namespace {

// ---- of files and bytes, and their pickles

nb::object core(const char* name) { return imported("parlance._core", name); }

/// A path that means the same in another working directory.
nb::object absolute_path(nb::handle path) {
  return call_python(imported("os", "fsdecode"), call_python(imported("os.path", "abspath"), path));
}

PyTokenizer tokenizer_from_file(nb::handle given_path, const std::vector<std::string>& special_tokens,
                                bool as_transformers, const std::string& split) {
  const std::string path = path_of(given_path);
  TokenizerOptions options;
  options.sentencepiece.special_tokens = options.tiktoken.special_tokens = options.special_tokens = special_tokens;
  options.sentencepiece.as_transformers = as_transformers;
  options.tiktoken.split = split;
  Result<std::unique_ptr<Tokenizer>> opened = [&] {
    const GilRelease release;
    return open_tokenizer(path, options);
  }();
  return {take(std::move(opened)),
          nb::make_tuple(absolute_path(given_path), nb::cast(special_tokens), as_transformers, split)};
}

/// The texts of the vocabulary one after the other: all of it, or one in so many.
std::string texts_of_vocabulary(const Tokenizer& tokenizer, std::size_t step) {
  constexpr std::size_t kMost = std::size_t{1} << 22;
  std::string all;
  const std::size_t size = std::min(tokenizer.facts().vocabulary_size, kMost);
  for (std::size_t id = 0; id < size; id += step) all += tokenizer.token_text(static_cast<TokenId>(id)) + '\n';
  return all;
}

/// All that tells a tokenizer of a file from another: its facts, its vocabulary, and the ids of a text that has
/// something of all of it, which depend on how it splits and merges.
std::string told_apart_by(const Tokenizer& tokenizer) {
  const TokenizerFacts& facts = tokenizer.facts();
  std::string all = facts.kind + ' ' + std::to_string(facts.vocabulary_size);
  const auto add = [&all](const auto& ids) {
    for (const TokenId id : ids) all += ' ' + std::to_string(id);
    all += '\n';
  };
  for (const AddedToken& one : facts.added) {
    all += std::to_string(one.id) + one.text;
    for (const bool flag : {one.special, one.lstrip, one.rstrip, one.normalized, one.single_word, one.control})
      all += flag ? '1' : '0';
  }
  for (const NamedToken& one : facts.named) all.append(one.name).append("=").append(one.text).append("\n");
  for (const EndToken& one : facts.ends) all += std::to_string(one.id) + ' ';
  add(std::array{facts.bos.value_or(-1), facts.eos.value_or(-1), facts.unk.value_or(-1)});
  add(facts.markers);
  add(facts.puts_before);
  add(facts.puts_after);
  return all + texts_of_vocabulary(tokenizer, 1);
}

std::string print_of(const Tokenizer& tokenizer) {
  constexpr std::size_t kTexts = 2048;
  std::string all, some;
  {
    const GilRelease release;
    all = told_apart_by(tokenizer);
    some = texts_of_vocabulary(tokenizer, tokenizer.facts().vocabulary_size / kTexts + 1);
  }
  nb::object kept;
  some = std::string(utf8_of(text_to_python(some), kept));  // a token may be half a character
  std::vector<EncodedToken> encoded;
  {
    const GilRelease release;
    if (tokenizer.encode(some, nullptr, encoded))
      for (const EncodedToken& token : encoded) all += std::to_string(token.id) + ' ';
  }
  return nb::cast<std::string>(call_method(call_python(imported("hashlib", "sha256"), kept_bytes(all)), "hexdigest"));
}

const std::string& known_print(const PyTokenizer& self) {
  return self.print->get([&self] { return print_of(*self.tokenizer); });
}

nb::object reduced(const PyTokenizer& self) {
  if (self.opened.is_valid() && nb::isinstance<nb::bytes>(self.opened[0]))
    return nb::make_tuple(core("_tokenizer_of_bytes"), self.opened);
  if (!self.opened.is_valid())
    throw nb::type_error("this Tokenizer cannot be pickled, since it was made of another object: pickle that");
  return nb::make_tuple(core("_tokenizer_of_file"), self.opened + nb::make_tuple(known_print(self)));
}

PyTokenizer tokenizer_of_file_again(nb::handle path, const std::vector<std::string>& special_tokens,
                                    bool as_transformers, const std::string& split, const std::string& print) {
  PyTokenizer made = tokenizer_from_file(path, special_tokens, as_transformers, split);
  if (known_print(made) == print) return made;
  raise(Error(ErrorCode::tokenizer, path_of(path) + ": not the tokenizer that was pickled")
            .hint("a pickle has the path alone, and the file has become another since"));
}

PyTokenizer from_bytes(nb::bytes bytes, const std::string& name) {
  const std::string_view view(static_cast<const char*>(bytes.data()), bytes.size());
  Result<std::unique_ptr<Tokenizer>> opened = [&] {
    const GilRelease release;
    return read_tokenizer(view, name);
  }();
  return {take(std::move(opened)), nb::make_tuple(bytes, name)};
}

/// `added` are tuples (id, text, special).
PyTokenizer from_callables(nb::object encode, nb::object token_text, const nb::list& added, std::optional<TokenId> bos,
                           std::optional<TokenId> eos, std::size_t vocabulary_size, std::optional<TokenId> unk) {
  std::vector<AddedToken> tokens;
  for (nb::handle one : added) {
    const auto tuple = nb::cast<nb::tuple>(one);
    AddedToken token;
    token.id = nb::cast<TokenId>(tuple[0]);
    token.text = nb::cast<std::string>(tuple[1]);
    token.special = nb::cast<bool>(tuple[2]);
    tokens.push_back(std::move(token));
  }
  TokenizerFacts facts;
  facts.kind = "an object of Python";
  facts.vocabulary_size = vocabulary_size;
  facts.bos = bos;
  facts.eos = eos;
  facts.unk = unk;
  return {tokenizer_of_callables(std::move(encode), std::move(token_text), std::move(tokens), std::move(facts))};
}

std::vector<TokenId> encode(const PyTokenizer& self, nb::str text) {
  nb::object kept;
  const std::string copy(utf8_of(text, kept));
  std::vector<EncodedToken> encoded;
  Result<void> done;
  {
    const GilRelease release;
    done = self.tokenizer->encode(copy, nullptr, encoded);
  }
  check(done);
  std::vector<TokenId> ids;
  for (const EncodedToken& token : encoded) ids.push_back(token.id);
  return ids;
}

/// Added tokens first, as in a text; then what the tokenizer itself makes of the text, before all of its vocabulary is
/// looked through.
std::optional<TokenId> token_to_id(const PyTokenizer& self, nb::str text) {
  nb::object kept;
  const std::string wanted(utf8_of(text, kept));
  const Tokenizer& tokenizer = *self.tokenizer;
  if (wanted.empty()) return std::nullopt;  // as are the texts of ids that there are not
  for (const AddedToken& token : tokenizer.facts().added)
    if (token.text == wanted) return token.id;
  const auto found = [&]() -> std::optional<TokenId> {
    const GilRelease release;
    std::vector<EncodedToken> encoded;
    const bool is_one = tokenizer.encode(wanted, nullptr, encoded) && encoded.size() == 1;
    if (is_one && tokenizer.token_text(encoded[0].id) == wanted) return encoded[0].id;
    for (std::size_t id = 0; id < tokenizer.facts().vocabulary_size; ++id)
      if (tokenizer.token_text(static_cast<TokenId>(id)) == wanted) return static_cast<TokenId>(id);
    return std::nullopt;
  }();
  raise_kept();
  return found;
}

nb::bytes decode(const PyTokenizer& self, const std::vector<TokenId>& ids) {
  check(check_ids(*self.tokenizer, ids));
  std::string text;
  for (const TokenId id : ids) {
    text += self.tokenizer->token_text(id);
    raise_kept();
  }
  return nb::bytes(text.data(), text.size());
}

// ---- a prompt's tokens

/// An array that keeps the tokens alive: read-only memory that NumPy and others take over without a copy.
template <typename T>
nb::object array_of(std::vector<T> values) {
  auto* const kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::array_api, const T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

/// Raises ValueError if the prompt was rendered without looking for what the assistant wrote.
void need_assistant(const PyTokens& self) {
  if (!self.prompt->options.want_assistant)
    raise_argument("render(…, assistant=True) finds what the assistant wrote; this prompt was rendered without it");
}

std::vector<TokenId> labels_of(const PyTokens& self) {
  need_assistant(self);
  return self.tokens->labels();
}

std::vector<ReplyKind> kinds_of(const PyTokens& self) {
  need_assistant(self);
  return token_kinds(self.tokens->tokens, kinds_of(*self.prompt));
}

/// 1 for the tokens of these kinds; of "assistant", and of none, for all that training learns.
std::vector<std::uint8_t> mask_of(const PyTokens& self, const std::vector<std::string>& names) {
  need_assistant(self);
  std::array<bool, kReplyKinds> wanted{};
  bool all = names.empty();
  for (const std::string& name : names) {
    const std::optional<ReplyKind> kind = reply_kind_named(name);
    if (!kind && name != "assistant")
      raise_argument("a kind of tokens is 'assistant', " + listed(kinds_of_replies()) + ", not " + quoted(name));
    all |= !kind;
    if (kind) wanted[static_cast<std::size_t>(*kind)] = true;
  }
  std::vector<std::uint8_t> mask;
  if (all) {
    for (const PromptToken& token : self.tokens->tokens) mask.push_back(token.trained ? 1 : 0);
  } else {
    for (const ReplyKind kind : kinds_of(self)) mask.push_back(wanted[static_cast<std::size_t>(kind)] ? 1 : 0);
  }
  return mask;
}

/// The words of a call's *kinds.
std::vector<std::string> words_of(const nb::args& kinds) {
  std::vector<std::string> words;
  for (nb::handle kind : kinds) words.push_back(nb::cast<std::string>(kind));
  return words;
}

/// A token that begins within a character has the whole of it.
std::vector<std::pair<std::size_t, std::size_t>> ranges_of(const PyTokens& self) {
  const std::string_view text = self.prompt->rendering.text();
  const Characters& characters = self.prompt->characters();
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (const PromptToken& token : self.tokens->tokens) {
    std::size_t begin = token.bytes.begin;
    while (begin < token.bytes.end && begin > 0 && !begins_character(text[begin])) --begin;
    ranges.emplace_back(characters.before(begin), characters.before(token.bytes.end));
  }
  return ranges;
}

/// An UnknownText with its text.
struct PyUnknown {
  std::string text, path;
  bool dropped = false;
};

std::vector<PyUnknown> unknown_of(const PyTokens& self) {
  std::vector<PyUnknown> all;
  for (const UnknownText& one : self.tokens->unknown) {
    const std::string_view text =
        self.prompt->rendering.text().substr(one.bytes.begin, one.bytes.end - one.bytes.begin);
    all.push_back({std::string(text), one.path, one.dropped});
  }
  return all;
}

// ---- pickles of tokens: the rendering, and each token as numbers

constexpr std::size_t kNumbers = 7;  ///< for a token

nb::tuple ranges_state(const auto& items, auto more) {
  nb::list all;
  for (const auto& one : items)
    all.append(nb::make_tuple(one.bytes.begin, one.bytes.end, kept_bytes(one.path), more(one)));
  return nb::tuple(all);
}

nb::tuple reduced_tokens(const PyTokens& self) {
  const PromptTokens& of = *self.tokens;
  std::vector<std::int32_t> numbers;
  for (const PromptToken& token : of.tokens) {
    const std::uint32_t begin = token.bytes.begin, end = token.bytes.end;
    numbers.insert(numbers.end(),
                   {token.id, static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end),
                    static_cast<std::int32_t>(token.origin), token.control, token.trained, token.message});
  }
  const auto bytes = kept_bytes({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int32_t)});
  return nb::make_tuple(
      core("_tokens_again"),
      nb::make_tuple(self.rendering, bytes, ranges_state(of.guarded, [](const GuardedText& one) { return one.id; }),
                     ranges_state(of.unknown, [](const UnknownText& one) { return one.dropped; }),
                     nb::cast(of.missing_before), kept_texts(of.plain_marks), kept_texts(of.notes)));
}

/// A range in the prompt. Raises ValueError where the prompt is shorter.
ByteSpan span_within(const PyTokens& self, std::int64_t begin, std::int64_t end) {
  const auto size = static_cast<std::int64_t>(self.prompt->rendering.text().size());
  if (begin < 0 || begin > end || end > size) raise_argument("these tokens are of another prompt");
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

PyTokens tokens_again(nb::handle rendering, const nb::bytes& numbers, const nb::tuple& guarded,
                      const nb::tuple& unknown, std::vector<TokenId> missing_before, nb::handle plain_marks,
                      nb::handle notes) {
  PyTokens made{nullptr, nb::cast<const PyRendering&>(rendering).prompt, nb::borrow(rendering)};
  PromptTokens all;
  std::vector<std::int32_t> each(numbers.size() / sizeof(std::int32_t));
  std::memcpy(each.data(), numbers.data(), each.size() * sizeof(std::int32_t));
  for (std::size_t at = 0; at + kNumbers <= each.size(); at += kNumbers) {
    PromptToken token;
    token.id = each[at];
    token.bytes = span_within(made, each[at + 1], each[at + 2]);
    token.origin = static_cast<Origin>(each[at + 3] & 3);
    token.control = each[at + 4] != 0;
    token.trained = each[at + 5] != 0;
    token.message = each[at + 6];
    all.ids.push_back(token.id);
    all.tokens.push_back(token);
  }
  const auto span_of = [&](nb::handle one) {
    return span_within(made, nb::cast<std::int64_t>(one[0]), nb::cast<std::int64_t>(one[1]));
  };
  for (nb::handle one : guarded) all.guarded.push_back({span_of(one), nb::cast<TokenId>(one[3]), kept_text(one[2])});
  for (nb::handle one : unknown) all.unknown.push_back({span_of(one), kept_text(one[2]), nb::cast<bool>(one[3])});
  all.missing_before = std::move(missing_before);
  all.plain_marks = texts_of_kept(plain_marks);
  all.notes = texts_of_kept(notes);
  made.tokens = std::make_shared<const PromptTokens>(std::move(all));
  return made;
}

template <typename Of>
nb::list per_token(const PyTokens& self, Of of) {
  nb::list all;
  for (const PromptToken& token : self.tokens->tokens) all.append(of(token));
  return all;
}

}  // namespace

PyTokenizer tokenizer_in(nb::handle given) {
  if (nb::isinstance<PyTokenizer>(given)) return nb::cast<PyTokenizer>(given);
  return nb::cast<PyTokenizer>(call_python(imported("parlance._tokenizers", "tokenizer_of"), given));
}

namespace {

void bind_tokenizer(nb::module_& module) {
  nb::class_<PyTokenizer>(
      module, "Tokenizer", nb::is_weak_referenceable(),
      "A tokenizer that encodes without the GIL, on any number of threads. copy.copy() and "
      "copy.deepcopy() give itself. A pickle of one of a file has its path and a fingerprint, and is "
      "refused where the path has another tokenizer by then.")
      .def_static(
          "from_file", &tokenizer_from_file, "path"_a, nb::kw_only(), "special_tokens"_a = std::vector<std::string>(),
          "as_transformers"_a = false, "split"_a = "",
          nb::sig("def from_file(path: str | os.PathLike[str], *, special_tokens: "
                  "collections.abc.Sequence[str] = (), as_transformers: bool = False, split: str = '') -> "
                  "Tokenizer"),
          "Opens a tokenizer.json, a SentencePiece .model, a tekken.json, a tiktoken file, the vocabulary of a "
          "GGUF file, or a folder that has one.\n\n"
          "* `special_tokens` are texts of control tokens that the file lacks; their ids follow the vocabulary.\n"
          "* `as_transformers` reads a .model or a tokenizer.json as transformers 5 does, by the class that its "
          "configuration names.\n"
          "* `split` says how a tiktoken file splits text into words: a name, such as 'cl100k_base', or a regular "
          "expression; '' goes by the file's name.\n\n"
          "An option without effect for the kind of file is in `notes`. Raises parlance.Error (also OSError or "
          "ValueError).")
      .def_static("_from_bytes", &from_bytes, "data"_a, "name"_a)
      .def_static("_from_callables", &from_callables, "encode"_a, "token_text"_a, "added"_a, "bos"_a = nb::none(),
                  "eos"_a = nb::none(), "vocabulary_size"_a = 0, "unk"_a = nb::none())
      .def("encode", &encode, "text"_a, "The ids of a text, added tokens recognised, without special tokens around it.")
      .def("decode", &decode, "ids"_a,
           "The bytes of ids, one after the other.\n\nRaises parlance.Error, also ValueError, for an id that is not "
           "below "
           "the vocabulary's size; what the functions of Python that it was made of raise.")
      .def("__repr__", [](const PyTokenizer& t) { return "<Tokenizer " + t.tokenizer->facts().kind + ">"; })
      .def(
          "token_to_id", &token_to_id, "text"_a,
          "The id of the token with this text, as decode() gives it: '<|im_end|>', ' Hello'. None where there is none.")
      .def("__reduce__", &reduced, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"),
           "A pickle of one that was opened by from_file() has the path and a fingerprint, since the files have "
           "megabytes: "
           "opening it raises parlance.Error, also ValueError, where the path has another tokenizer by then. Of one "
           "that "
           "tokenizer_of() made of bytes it has these.")
      .def("__copy__", &itself, nb::sig("def __copy__(self) -> Tokenizer"))
      .def("__deepcopy__", &itself_deep, "memo"_a,
           nb::sig("def __deepcopy__(self, memo: dict[int, typing.Any]) -> Tokenizer"))
      .def_prop_ro(
          "kind", [](const PyTokenizer& t) { return t.tokenizer->facts().kind; }, "For people: what it is.")
      .def_prop_ro(
          "vocabulary_size", [](const PyTokenizer& t) { return t.tokenizer->facts().vocabulary_size; },
          "Ids are below it; 0 if it is not known.")
      .def_prop_ro(
          "notes", [](const PyTokenizer& t) { return t.tokenizer->facts().notes; }, "What was ignored in its files.");
}

void bind_texts(nb::module_& module) {
  nb::class_<GuardedText>(module, "GuardedText", "Text of the input that was kept from becoming a control token.")
      .def_ro("id", &GuardedText::id, "The control token that it would have been.")
      .def_ro("path", &GuardedText::path, "Where it stands in the request.")
      .def("__getstate__",
           [](const GuardedText& g) { return nb::make_tuple(g.bytes.begin, g.bytes.end, g.id, kept_bytes(g.path)); })
      .def("__setstate__",
           [](GuardedText& self, const nb::tuple& state) {
             const ByteSpan bytes{nb::cast<std::uint32_t>(state[0]), nb::cast<std::uint32_t>(state[1])};
             new (&self) GuardedText{bytes, nb::cast<TokenId>(state[2]), kept_text(state[3])};
           })
      .def("__repr__",
           [](const GuardedText& g) { return "GuardedText(id=" + std::to_string(g.id) + ", path='" + g.path + "')"; });

  nb::class_<PyUnknown>(module, "UnknownText", "Text that the tokenizer has no token for.")
      .def_ro("text", &PyUnknown::text, "The text, characters that follow each other.")
      .def_ro("path", &PyUnknown::path, "Where it stands in the request; '' for the template's own text.")
      .def_ro("dropped", &PyUnknown::dropped, "It became no token at all; False: it became the unknown token.")
      .def("__getstate__",
           [](const PyUnknown& u) { return nb::make_tuple(kept_bytes(u.text), kept_bytes(u.path), u.dropped); })
      .def("__setstate__",
           [](PyUnknown& self, const nb::tuple& state) {
             new (&self) PyUnknown{kept_text(state[0]), kept_text(state[1]), nb::cast<bool>(state[2])};
           })
      .def(
          "__repr__",
          [](const PyUnknown& u) {
            return nb::str("UnknownText({!r}, path={!r}, dropped={!r})").attr("format")(u.text, u.path, u.dropped);
          },
          nb::sig("def __repr__(self) -> str"));
}

/// What training wants.
void bind_labels(nb::class_<PyTokens>& tokens) {
  tokens
      .def_prop_ro(
          "ids", [](const PyTokens& t) { return t.tokens->ids; }, "The ids.")
      .def_prop_ro("labels", &labels_of,
                   "The id where training learns it, else -100. Needs assistant=True in render().")
      .def_prop_ro(
          "ranges", &ranges_of,
          "The characters [begin, end) of the prompt's text that each token stands for; a character that several "
          "tokens spell is in each of them.")
      .def(
          "mask", [](const PyTokens& t, const nb::args& kinds) { return mask_of(t, words_of(kinds)); }, "kinds"_a,
          nb::sig("def mask(self, *kinds: str) -> list[int]"),
          ("1 where training learns the token, else 0. With kinds, only for tokens of these: " +
           listed(kinds_of_replies()) +
           "; 'assistant' stands for all. Needs assistant=True in render().\n\nRaises ValueError for a word that is no "
           "kind, or without assistant=True.")
              .c_str())
      .def("__reduce__", &reduced_tokens, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"),
           "A pickle has the rendering and the tokens.")
      .def("__copy__", &itself, nb::sig("def __copy__(self) -> Tokens"))
      .def("__deepcopy__", &itself_deep, "memo"_a,
           nb::sig("def __deepcopy__(self, memo: dict[int, typing.Any]) -> Tokens"))
      .def("__len__", [](const PyTokens& t) { return t.tokens->ids.size(); })
      .def("__repr__", [](const PyTokens& t) { return "<Tokens, " + std::to_string(t.tokens->ids.size()) + ">"; });
}

/// What each token is.
void bind_facts(nb::class_<PyTokens>& tokens) {
  tokens
      .def_prop_ro(
          "kinds",
          [](const PyTokens& t) {
            nb::list all;
            for (const ReplyKind kind : kinds_of(t)) all.append(nb::str(name_of(kind).data(), name_of(kind).size()));
            return all;
          },
          nb::sig("def kinds(self) -> list[str]"),
          ("The kind of each token, that of its first byte: " + quoted(name_of(ReplyKind::none)) +
           " for those that training does not learn, else as in Rendering.kinds.")
              .c_str())
      .def_prop_ro(
          "messages",
          [](const PyTokens& t) {
            return per_token(t, [](const PromptToken& token) -> nb::object {
              if (token.message < 0) return nb::none();
              return nb::int_(token.message);
            });
          },
          nb::sig("def messages(self) -> list[int | None]"), "The index of each token's message; None for none.")
      .def_prop_ro(
          "origins",
          [](const PyTokens& t) {
            return per_token(t, [](const PromptToken& token) {
              const std::string_view name = origin_name(token.origin);
              return nb::str(name.data(), name.size());
            });
          },
          nb::sig("def origins(self) -> list[str]"), "Where the text of each token came from.")
      .def_prop_ro(
          "control",
          [](const PyTokens& t) {
            return per_token(t, [](const PromptToken& token) { return nb::bool_(token.control); });
          },
          nb::sig("def control(self) -> list[bool]"), "Whether each token is a control token.");
}

/// What is to be known of the prompt besides its tokens.
void bind_findings(nb::class_<PyTokens>& tokens) {
  tokens
      .def_prop_ro(
          "guarded", [](const PyTokens& t) { return t.tokens->guarded; },
          "Texts of the input that look like control tokens and were encoded as text.")
      .def_prop_ro("unknown", &unknown_of,
                   "Texts that the model cannot read, in order: the tokenizer has no token for them.")
      .def_prop_ro(
          "missing_before", [](const PyTokens& t) { return t.tokens->missing_before; },
          "Ids that the tokenizer itself would put in front, if the prompt does not begin with them: add them, or use "
          "add_special_tokens. Empty if the template wrote them, so that they never come twice.")
      .def_prop_ro("notes", [](const PyTokens& t) { return t.tokens->notes; });
}

void bind_arrays(nb::class_<PyTokens>& tokens) {
  tokens
      .def(
          "ids_array", [](const PyTokens& t) { return array_of(t.tokens->ids); },
          nb::sig("def ids_array(self) -> typing.Any"),
          "The ids as an array of int32 that speaks DLPack and the buffer protocol: numpy.asarray takes it without a "
          "copy.")
      .def(
          "labels_array", [](const PyTokens& t) { return array_of(labels_of(t)); },
          nb::sig("def labels_array(self) -> typing.Any"), "The same of the labels.")
      .def(
          "mask_array", [](const PyTokens& t, const nb::args& kinds) { return array_of(mask_of(t, words_of(kinds))); },
          "kinds"_a, nb::sig("def mask_array(self, *kinds: str) -> typing.Any"), "The same of a mask, as uint8.");
}

}  // namespace

void bind_tokens(nb::module_& module) {
  bind_tokenizer(module);
  module.def("_tokenizer_of_file", &tokenizer_of_file_again, "path"_a, "special_tokens"_a, "as_transformers"_a,
             "split"_a, "print"_a);
  module.def("_tokenizer_of_bytes", &from_bytes, "data"_a, "name"_a);
  bind_texts(module);
  nb::class_<PyTokens> tokens(module, "Tokens", "A prompt as tokens: all lists have one item for each token.");
  bind_labels(tokens);
  bind_facts(tokens);
  bind_findings(tokens);
  bind_arrays(tokens);
  module.def(
      "_tokens_again", &tokens_again, "rendering"_a, "numbers"_a, "guarded"_a, "unknown"_a, "missing_before"_a,
      "plain_marks"_a, "notes"_a,
      nb::sig("def _tokens_again(rendering: Rendering, numbers: bytes, guarded: tuple[typing.Any, ...], unknown: "
              "tuple[typing.Any, ...], missing_before: collections.abc.Sequence[int], plain_marks: tuple[bytes, ...], "
              "notes: tuple[bytes, ...]) -> Tokens"));
}

}  // namespace parlance::python
