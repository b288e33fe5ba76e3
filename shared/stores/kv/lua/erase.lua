-- Stores erasures, so that older points are not accepted any more, and erases a pilgrim. Safe to repeat, in any order.
-- KEYS[1] the partition's hash tag; ARGV the pilgrim (empty: erasures are stored only), then for each erasure the
-- SHA-1 of the user id, the generation, and the time (ms) until which received points are not accepted
-- Returns the number of deleted pending points
local tag, user = KEYS[1], ARGV[1]
local generation, through
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 2, #ARGV, 3 do
  local hash = ARGV[i]
  generation, through = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local known, till = string.match(redis.call('HGET', tag .. ':erased', hash) or '', '^(%d+)|(%d+)$')
  known, till = tonumber(known or 0), tonumber(till)
  -- Of the same generation the earlier time holds: it says that the person has consented anew.
  if known == generation then through = math.min(through, till or through) end
  if known <= generation then
    redis.call('HSET', tag .. ':erased', hash, string.format('%.0f|%.0f', generation, through))
    local last = redis.call('ZREVRANGE', tag .. ':erased-order', 0, 0, 'WITHSCORES')[2]
    -- The time, so that a store that has lost its data does not count past a reader's mark unseen.
    redis.call('ZADD', tag .. ':erased-order', string.format('%.0f', math.max(tonumber(last or 0) + 1, now)), hash)
  else
    -- A later erasure is known: it decides.
    generation, through = known, till
  end
end
if user == '' then return 0 end

local key = tag .. ':buf:' .. user
local held = redis.call('HGETALL', key)
local deleted, newer = 0, 0
for i = 1, #held, 2 do
  local stamp, value = string.match(held[i + 1], '^(%d+)~(.*)$')
  value = value or held[i + 1]
  local received = tonumber(string.match(value, '^%[[^,]*,(%d+)'))
  if (tonumber(stamp) or 0) >= generation then
    newer = newer + 1
  elseif received and received > through then
    -- Restored before the store knew of the erasure.
    redis.call('HSET', key, held[i], string.format('%.0f~', generation) .. value)
    newer = newer + 1
  else
    redis.call('HDEL', key, held[i])
    deleted = deleted + 1
  end
end
if deleted > 0 then redis.call('HINCRBY', tag .. ':ledger', 'erased', deleted) end
if newer > 0 then return deleted end
for _, kind in ipairs({ 'checkin', 'sync', 'ingest' }) do
  for half = 0, 1 do redis.call('HDEL', tag .. ':win:' .. kind .. ':' .. half, user) end
end
redis.call('ZREM', tag .. ':pending', user)
redis.call('HDEL', tag .. ':live', user)
redis.call('ZREM', tag .. ':moved', user)
redis.call('ZREM', tag .. ':returning', user)
redis.call('SREM', tag .. ':hidden', user)
redis.call('SREM', tag .. ':refused', user)
return deleted
