-- The limit of an operator's requests, of a pilgrim's or an address's writes, and of drawing (not of check-ins and track
-- points): a sliding window, never more than max calls in any window of that length, by the store's clock.
-- KEYS[1] the window; ARGV max, window ms, then the ids of requests, charged in this order
-- Returns allowed, remaining and retry-after ms of each request, as one flat list
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local max, windowMs = tonumber(ARGV[1]), tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - windowMs)
local used = redis.call('ZCARD', KEYS[1])

local function charge(id)
  if redis.call('ZSCORE', KEYS[1], id) then return 1, max - used, 0 end
  if used >= max then
    -- The clock was set back: calls with a later time count from now, so that they do not block until it has caught up.
    local ahead = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')
    for _, call in ipairs(ahead) do redis.call('ZADD', KEYS[1], now, call) end
    if #ahead > 0 then redis.call('PEXPIRE', KEYS[1], windowMs) end
    local oldest = redis.call('ZRANGE', KEYS[1], used - max, used - max, 'WITHSCORES')
    return 0, 0, tonumber(oldest[2]) + windowMs - now
  end
  redis.call('ZADD', KEYS[1], now, id)
  used = used + 1
  return 1, max - used, 0
end

local verdicts, before = {}, used
for i = 3, #ARGV do
  local at = 3 * (i - 3)
  verdicts[at + 1], verdicts[at + 2], verdicts[at + 3] = charge(ARGV[i])
end
if used > before then redis.call('PEXPIRE', KEYS[1], windowMs) end
return verdicts
