-- Requests for wrk: wrk … -s load.lua URL -- REQUEST.json [STREAM]
-- Each request's last user message begins with a number of its own, so that no cache of answers can help.
local head, tail, number, thread = "", "", 0, 0

local threads = 0
function setup(made)
  made:set("thread", threads)
  threads = threads + 1
end

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  local text = file:read("*a")
  file:close()
  local role, at = '"role":"user","content":"', 0
  while true do
    local _, last = text:find(role, at + 1, true)
    if last == nil then break end
    at = last
  end
  head, tail = text:sub(1, at), text:sub(at + 1)
  if arguments[2] ~= nil then head = '{"stream":true,' .. head:sub(2) end
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  math.randomseed(os.time() + thread)
  number = math.random(1e9)
end

function request()
  number = number + 1
  return wrk.format(nil, nil, nil, head .. thread .. "-" .. number .. " " .. tail)
end

-- One line of figures: requests, seconds, errors, and latencies in microseconds.
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("figures %d %f %d %f %f %f\n", summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout, latency:percentile(50),
    latency:percentile(99), latency.max))
end
