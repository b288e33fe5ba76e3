-- Erases a pilgrim, and stores the erasure, so that older points are not accepted any more. Safe to repeat: points that
-- were admitted after the first call carry the generation, and stay.
-- KEYS[1] the partition's hash tag; ARGV user, generation, time of the erasure (ms)
-- Returns the number of deleted pending points
local tag, user, generation = KEYS[1], ARGV[1], tonumber(ARGV[2])
local key = tag .. ':buf:' .. user
local held = redis.call('HGETALL', key)
local deleted, newer = 0, 0
for i = 1, #held, 2 do
  if (tonumber(string.match(held[i + 1], '^(%d+)~')) or 0) < generation then
    redis.call('HDEL', key, held[i])
    deleted = deleted + 1
  else
    newer = newer + 1
  end
end
if deleted > 0 then redis.call('HINCRBY', tag .. ':ledger', 'erased', deleted) end
local hash = redis.sha1hex(user)
local known = redis.call('HGET', tag .. ':erased', hash)
if (known and tonumber(string.match(known, '^%d+')) or 0) <= generation then
  redis.call('HSET', tag .. ':erased', hash, ARGV[2] .. '|' .. ARGV[3])
end
if newer > 0 then return deleted end
for _, kind in ipairs({ 'checkin', 'sync', 'ingest' }) do
  for half = 0, 1 do redis.call('HDEL', tag .. ':win:' .. kind .. ':' .. half, user) end
end
redis.call('ZREM', tag .. ':pending', user)
redis.call('HDEL', tag .. ':live', user)
redis.call('ZREM', tag .. ':moved', user)
redis.call('SREM', tag .. ':hidden', user)
return deleted
