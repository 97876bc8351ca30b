// Keeps conversations in Redis. Begin reading at SharedSessions::write and SharedSessions::by_names.
#include "serve/sessions/shared.h"

#include <algorithm>

#include "base/sha256.h"
#include "serve/http/in_pool.h"
#include "serve/sessions/saved_held.h"

namespace parlance::serve {

namespace {

constexpr std::size_t kMostValue = std::size_t{256} << 20;
constexpr std::size_t kMostName = 256;
constexpr std::size_t kKeySize = 64;

/// KEYS: the turn, its session, the other names, then, if ARGV[6] is not "", ARGV[7] names of the turn that it goes on
/// from and that turn. What comes before that one lives as long as it does, or nobody could go on from it. A session's
/// last reply is not replaced by an earlier one of the same session, which another gateway was slower with.
///
/// Turns end at set times, a quarter of a lifetime apart: at the first that leaves them a whole one. One that is to end
/// then already was renewed with all before it, so the walk back ends there. Else each turn would write the time of
/// every one before it to Redis' file. (The tenth of a second is for a clock that goes on within the script.)
constexpr std::string_view kWrite = R"(
local value, seconds, turn, first, name, from = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
local known = redis.pcall('GET', KEYS[2])
local later = false
if type(known) == 'string' then
  local its_turn, its_first = string.match(known, '^(%d+) (%x+) ')
  later = its_first == first and tonumber(its_turn) > turn
end
local clock, step = redis.call('TIME'), math.ceil(seconds / 4) * 1000
local left = seconds * 1000 + step - (clock[1] * 1000 + math.floor(clock[2] / 1000)) % step
redis.call('SET', KEYS[1], value, 'PX', left)
if not later then redis.call('SET', KEYS[2], ARGV[3] .. ' ' .. first .. ' ' .. name, 'EX', seconds) end
local names = #KEYS
if from ~= '' then
  redis.call('SET', KEYS[names], from, 'PX', left)
  for i = names - tonumber(ARGV[7]), names - 1 do redis.call('EXPIRE', KEYS[i], seconds) end
  names = names - tonumber(ARGV[7]) - 1
  local place = string.match(from, '^%x+\n(parlance:turn:%x+)\n')
  for turns = 1, 65536 do
    if not place or redis.call('PTTL', place) > left - 100 or redis.call('PEXPIRE', place, left) == 0 then break end
    local begin = redis.pcall('GETRANGE', place, 0, 255)
    place = type(begin) == 'string' and string.match(begin, '^%x+\n(parlance:turn:%x+)\n')
  end
end
for i = 3, names do redis.call('SET', KEYS[i], name, 'EX', seconds) end
return 1)";

/// The turn KEYS[1] and those before it, each of which says in its second line where the one before is: at most
/// ARGV[1] bytes of them, and so many turns that a circle ends. Nothing: one is not there any more.
constexpr std::string_view kBefore = R"(
local values, place, room = {}, KEYS[1], tonumber(ARGV[1])
while place ~= '' do
  if #values == 65536 then return {} end
  local value = redis.pcall('GET', place)
  if type(value) ~= 'string' then return {} end
  room = room - #value - 1
  if room < 0 then return {} end
  values[#values + 1] = value
  place = string.match(value, '^%x+\n(parlance:turn:%x+)\n') or ''
end
return values)";

std::string place_of_name(const ServedModel& model, std::string_view name) {
  return "parlance:name:" + sha256(model.fingerprint + std::string(name));
}

/// The turn that a name leads to; "": what is there is none.
TurnName turn_in(std::string_view value) {
  if (value.size() < kKeySize) return {};
  const std::string_view key = value.substr(value.size() - kKeySize);
  const bool is_key = key.find_first_not_of("0123456789abcdef") == key.npos;
  return is_key ? TurnName(key) : TurnName();
}

}  // namespace

SharedSessions::SharedSessions(SharedOptions options, Say say) : redis_(std::move(options), std::move(say)) {}

Result<std::unique_ptr<SharedSessions>> SharedSessions::open(SharedOptions options, Say say) {
  std::unique_ptr<SharedSessions> made(new SharedSessions(std::move(options), std::move(say)));
  if (Result<void> opened = made->redis_.open(); !opened) return opened.error();
  return made;
}

/// From the one at this place on, the first one first; none: one is not there any more.
std::vector<std::string> SharedSessions::before(std::string_view place) {
  const std::string most = std::to_string(kMostValue);
  const std::vector<RedisReply> replies = redis_.read({{"EVAL", kBefore, "1", place, most}});
  std::vector<std::string> values;
  for (const RedisReply& one : replies.front().items) values.push_back(one.text);
  std::reverse(values.begin(), values.end());
  return values;
}

std::shared_ptr<const Held> SharedSessions::fetch(const std::shared_ptr<const ServedModel>& model,
                                                  const TurnName& turn) {
  const std::string place = shared_place(*model, turn), most = std::to_string(kMostValue);
  const std::vector<RedisReply> replies = redis_.read({{"GETRANGE", place, "0", most}});
  const RedisReply& reply = replies.front();
  if (reply.kind != RedisReply::Kind::text || reply.text.empty() || reply.text.size() > kMostValue) {
    if (reply.kind == RedisReply::Kind::error || reply.text.size() > kMostValue) redis_.refuse(place + " is not ours");
    return nullptr;
  }
  const std::string_view next = place_before(reply.text);
  const std::vector<std::string> earlier = next.empty() ? std::vector<std::string>() : before(next);
  if (!next.empty() && earlier.empty()) return nullptr;
  std::vector<std::string_view> saved(earlier.begin(), earlier.end());
  saved.push_back(reply.text);
  Result<std::shared_ptr<const Held>> held = restore(saved, model);
  if (held && (*held)->name == turn) return *held;
  redis_.refuse(place + ": " + (held ? "it is another conversation" : std::string(held.error().message())));
  return nullptr;
}

std::shared_ptr<const Held> SharedSessions::by_names(const std::shared_ptr<const ServedModel>& model,
                                                     const std::vector<std::string>& names, std::string_view owner) {
  std::vector<std::string> places;
  for (const std::string& name : names) places.push_back(place_of_name(*model, name));
  const std::string most = std::to_string(kMostName);
  std::vector<RedisCommand> commands;
  for (const std::string& place : places) commands.push_back({"GETRANGE", place, "0", most});
  const std::vector<RedisReply> replies = redis_.read(commands);
  for (std::size_t at = 0; at < names.size(); ++at) {
    const RedisReply& reply = replies[at];
    const bool is_there = reply.kind == RedisReply::Kind::error || !reply.text.empty();
    const TurnName turn = reply.kind == RedisReply::Kind::text ? turn_in(reply.text) : TurnName();
    if (is_there && turn.empty()) redis_.refuse("a name leads to what is no conversation");
    if (turn.empty()) continue;
    std::shared_ptr<const Held> held = fetch(model, turn);
    if (held == nullptr) continue;
    const std::vector<std::string> its = names_of(*held, owner);
    if (std::find(its.begin(), its.end(), names[at]) != its.end()) {
      ++counts_.hits;
      return held;
    }
    redis_.refuse("a name leads to another conversation");
  }
  ++counts_.misses;
  return nullptr;
}

std::string SharedSessions::write(const Held& held, const Held* from, std::string_view owner) {
  const ServedModel& model = *held.model;
  const std::string value = save(held);
  if (value.size() > kMostValue) {
    ++redis_.counts().failures;
    return "the conversation is larger than what gateways share (" + std::to_string(kMostValue >> 20) + " MiB)";
  }
  const std::string of_session = name_of_session(held.id, owner), of_turn = name_of_turn(held.name);
  std::vector<std::string> places = {shared_place(model, held.name), place_of_name(model, of_session)};
  for (const std::string& name : names_of(held, owner))
    if (name != of_session && name != of_turn) places.push_back(place_of_name(model, name));
  const std::string earlier = from != nullptr && from->name != held.name ? save(*from, SavedAs::behind) : "";
  std::size_t names_of_earlier = 0;
  if (!earlier.empty()) {
    for (const std::string& name : names_of(*from, owner)) {
      if (name == name_of_turn(from->name)) continue;
      places.push_back(place_of_name(model, name));
      ++names_of_earlier;
    }
    places.push_back(shared_place(model, from->name));
  }
  const std::string keys = std::to_string(places.size()), seconds = std::to_string(redis_.options().lifetime.count());
  const std::string turn = std::to_string(held.turn), earlier_names = std::to_string(names_of_earlier);
  RedisCommand command = {"EVAL", kWrite, keys};
  command.insert(command.end(), places.begin(), places.end());
  const TurnName& first = held.first.empty() ? held.name : held.first;
  for (const std::string_view argument :
       {std::string_view(value), std::string_view(seconds), std::string_view(turn), std::string_view(first),
        std::string_view(held.name), std::string_view(earlier), std::string_view(earlier_names)})
    command.push_back(argument);
  std::string why = redis_.confirmed(command);
  ++(why.empty() ? counts_.kept : redis_.counts().failures);
  return why;
}

Task<std::string> SharedSessions::keep(std::shared_ptr<const Held> held, std::shared_ptr<const Held> from,
                                       std::string owner) {
  const auto work = [this, &held, &from, &owner] { return write(*held, from.get(), owner); };
  co_return co_await in_pool(pool(), work);
}

Task<std::string> SharedSessions::forget(std::shared_ptr<const ServedModel> model, std::string name) {
  const auto work = [this, &model, &name] {
    const std::string place = place_of_name(*model, name);
    return redis_.confirmed({"DEL", place});
  };
  co_return co_await in_pool(pool(), work);
}

}  // namespace parlance::serve
