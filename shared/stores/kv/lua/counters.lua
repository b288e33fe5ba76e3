-- Functions that several scripts share: this text is put before them.

-- Counts pending points, pilgrim by pilgrim.
local function countPending(tag)
  local pending = 0
  for _, user in ipairs(redis.call('ZRANGE', tag .. ':pending', 0, -1)) do
    pending = pending + redis.call('HLEN', tag .. ':buf:' .. user)
  end
  return pending
end

-- Begins an epoch and its counters, with the points that are already pending, if there is none; returns the epoch.
local function beginCounters(tag, epoch)
  local key = tag .. ':ledger'
  if redis.call('HSETNX', key, 'epoch', epoch) == 0 then return redis.call('HGET', key, 'epoch') end
  local pending = countPending(tag)
  if pending > 0 then redis.call('HSET', key, 'caller:before', pending) end
  return epoch
end

-- Counts as expired the points that are neither pending nor counted as settled, erased or expired.
local function recount(tag)
  local key = tag .. ':ledger'
  local counters = redis.call('HGETALL', key)
  local missing = -countPending(tag)
  for i = 1, #counters, 2 do
    local name = counters[i]
    if string.sub(name, 1, 7) == 'caller:' then missing = missing + tonumber(counters[i + 1]) end
    if name == 'settled' or name == 'erased' or name == 'expired' then
      missing = missing - tonumber(counters[i + 1])
    end
  end
  if missing > 0 then redis.call('HINCRBY', key, 'expired', missing) end
  redis.call('HDEL', key, 'recount')
end
