-- Sends POSTs. Prints the results as one line of JSON on standard error.
wrk.method = "POST"
wrk.body = os.getenv("BENCH_BODY")
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json"
wrk.headers["User-Agent"] = "bench"
wrk.headers["Authorization"] = os.getenv("BENCH_AUTHORIZATION")

local body_bytes = tonumber(os.getenv("BENCH_BODY_BYTES") or "0")
if body_bytes > 0 then wrk.body = string.rep("x", body_bytes) end

if os.getenv("BENCH_CLOSING") == "1" then wrk.headers["Connection"] = "close" end

-- A pause between the requests of a connection keeps the load the same for fast and slow proxies.
local least, most = string.match(os.getenv("BENCH_REST_MS") or "", "(%d+)-(%d+)")
if least then delay = function() return math.random(tonumber(least), tonumber(most)) end end

local keyed = os.getenv("BENCH_KEYED") == "1"
local run = os.getenv("BENCH_RUN")
local paths = {}
for path in string.gmatch(os.getenv("BENCH_PATHS") or "", "%S+") do paths[#paths + 1] = path end

local ready = {}
local sent = tonumber(os.getenv("BENCH_SKIPPED") or "0")

local routes = tonumber(os.getenv("BENCH_ROUTES") or "0")
local prefix = os.getenv("BENCH_ROUTE_PREFIX")
local tokens = tonumber(os.getenv("BENCH_TOKENS") or "0")

-- Tokens that are not seeded, one a line.
local bearers = {}
local file = os.getenv("BENCH_TOKENS_FILE") or ""
if file ~= "" then for line in io.lines(file) do bearers[#bearers + 1] = "Bearer " .. line end end

-- The request to the seeded route and with the seeded token (lab/seed.ts) of this number.
local function seeded(number)
  if tokens > 0 then
    wrk.headers["Authorization"] = string.format("Bearer gwt_%043d", (number - 1) % tokens + 1)
  end
  local path = routes > 0 and prefix .. ((number - 1) % routes + 1) or nil
  return wrk.format(nil, path)
end

-- Calls the seeded routes or tokens in turn, the tokens of the file, or the paths, if there are any; or adds a new
-- idempotency key to each request.
if keyed then
  request = function()
    sent = sent + 1
    wrk.headers["Idempotency-Key"] = run .. "-" .. sent
    return wrk.format()
  end
elseif #bearers > 0 then
  request = function()
    sent = sent + 1
    wrk.headers["Authorization"] = bearers[(sent - 1) % #bearers + 1]
    return wrk.format()
  end
elseif routes > 0 or tokens > 0 then
  request = function()
    sent = sent + 1
    local at = sent % math.max(routes, tokens) + 1
    ready[at] = ready[at] or seeded(at)
    return ready[at]
  end
elseif #paths > 0 then
  request = function()
    sent = sent + 1
    local at = sent % #paths + 1
    ready[at] = ready[at] or wrk.format(nil, paths[at])
    return ready[at]
  end
end

done = function(summary, latency, requests)
  local errors = summary.errors
  io.stderr:write(string.format(
    '{"requests":%d,"duration_us":%d,"failed_status":%d,"failed_socket":%d,"p50_us":%d,"p99_us":%d}\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
