// Lists in Redis: read within bounds, and changed only by who has seen their newest state. Begin reading at kWriteList.
#include "serve/sessions/shared_lists.h"

#include <algorithm>

#include "base/sha256.h"

namespace parlance::serve {

namespace {

constexpr std::size_t kMostListTexts = std::size_t{1} << 17, kMostListBytes = std::size_t{32} << 20;

/// ARGV: seconds, the first text that must be there ("": whatever is), how many texts stay, then the texts: the first
/// one, and those behind what stays. 0: another state is there, and stays. A command may come twice, where the answer
/// to the first was lost: what it wrote is there then.
constexpr std::string_view kWriteList = R"(
local place, before, stay = KEYS[1], ARGV[2], tonumber(ARGV[3])
local there = redis.pcall('LINDEX', place, 0)
if there == ARGV[4] then return 1 end
if before ~= '' and there ~= before then return 0 end
if stay > 0 then
  redis.call('LSET', place, 0, ARGV[4])
else
  redis.call('DEL', place)
  redis.call('RPUSH', place, ARGV[4])
end
for i = 5, #ARGV do redis.call('RPUSH', place, ARGV[i]) end
redis.call('EXPIRE', place, ARGV[1])
return 1)";

/// ARGV: how many texts and bytes there may be. 0: it is no list, or has more.
constexpr std::string_view kReadList = R"(
local place, texts, room = KEYS[1], {}, tonumber(ARGV[2])
local count = redis.pcall('LLEN', place)
if type(count) ~= 'number' or count > tonumber(ARGV[1]) then return 0 end
for first = 0, count - 1, 256 do
  for _, text in ipairs(redis.call('LRANGE', place, first, first + 255)) do
    room = room - #text
    if room < 0 then return 0 end
    texts[#texts + 1] = text
  end
end
return texts)";

/// How many texts of `before` a write of `texts` can leave where they are: all of them, or none.
std::size_t staying(const SharedLists::Texts& texts, const SharedLists::Texts* before) {
  if (before == nullptr || before->size() > texts.size()) return 0;
  return std::equal(before->begin() + 1, before->end(), texts.begin() + 1) ? before->size() : 0;
}

}  // namespace

std::string SharedLists::place_of(std::string_view kind, std::string_view id, std::string_view owner) {
  return "parlance:" + std::string(kind) + ":" + sha256(sha256(owner) + std::string(id));
}

bool SharedLists::may_have(const Texts& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  return texts.size() <= kMostListTexts && bytes <= kMostListBytes;
}

std::optional<SharedLists::Texts> SharedLists::read(const std::string& place) {
  const std::string texts = std::to_string(kMostListTexts), bytes = std::to_string(kMostListBytes);
  const std::vector<RedisReply> replies = redis_.read({{"EVAL", kReadList, "1", place, texts, bytes}});
  const RedisReply& reply = replies.front();
  if (reply.kind == RedisReply::Kind::nothing) return std::nullopt;
  if (reply.kind == RedisReply::Kind::number || reply.kind == RedisReply::Kind::error)
    redis_.refuse(place + " is not ours");
  Texts found;
  for (const RedisReply& text : reply.items) found.push_back(text.text);
  return found;
}

bool SharedLists::write(const std::string& place, const Texts& texts, const Texts* before) {
  const std::string seconds = std::to_string(redis_.options().lifetime.count());
  const std::size_t stay = staying(texts, before);
  const std::string count = std::to_string(stay);
  const std::string_view seen = before != nullptr ? std::string_view(before->front()) : std::string_view();
  RedisCommand command = {"EVAL", kWriteList, "1", place, seconds, seen, count, texts.front()};
  command.insert(command.end(), texts.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(stay, 1)),
                 texts.end());
  RedisReply reply;
  const std::string why = redis_.confirmed(command, &reply);
  if (why.empty()) return reply.number != 0;
  ++redis_.counts().failures;
  throw SharedFailure(why);
}

bool SharedLists::drop(const std::string& place) {
  RedisReply reply;
  const std::string why = redis_.confirmed({"DEL", place}, &reply);
  if (why.empty()) return reply.number != 0;
  ++redis_.counts().failures;
  throw SharedFailure(why);
}

}  // namespace parlance::serve
