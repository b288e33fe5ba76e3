-- What several scripts have in common: they follow this text.

-- How many points wait, counted one pilgrim after the other.
local function countPending(tag)
  local held = 0
  for _, user in ipairs(redis.call('ZRANGE', tag .. ':pending', 0, -1)) do
    held = held + redis.call('HLEN', tag .. ':buf:' .. user)
  end
  return held
end

-- Names the store's life when it has no name, with what waits already; answers the name.
local function beginBooks(tag, epoch)
  local key = tag .. ':ledger'
  if redis.call('HSETNX', key, 'epoch', epoch) == 0 then return redis.call('HGET', key, 'epoch') end
  local held = countPending(tag)
  if held > 0 then redis.call('HSET', key, 'caller:before', held) end
  return epoch
end

-- Books what is neither waiting nor known to have left: it has expired.
local function recount(tag)
  local key = tag .. ':ledger'
  local books = redis.call('HGETALL', key)
  local missing = -countPending(tag)
  for i = 1, #books, 2 do
    local name = books[i]
    if string.sub(name, 1, 7) == 'caller:' then missing = missing + tonumber(books[i + 1]) end
    if name == 'settled' or name == 'erased' or name == 'expired' then
      missing = missing - tonumber(books[i + 1])
    end
  end
  if missing > 0 then redis.call('HINCRBY', key, 'expired', missing) end
  redis.call('HDEL', key, 'recount')
end
