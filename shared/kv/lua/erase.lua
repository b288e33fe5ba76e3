-- Forgets a pilgrim, and remembers that points of before are not to come back. Made again it changes nothing: what
-- was admitted after the first time is stamped with the generation, and stays.
-- KEYS[1] the partition's hash tag; ARGV user, generation, time of the erasure (ms)
-- Answers how many pending points went
local tag, user, generation = KEYS[1], ARGV[1], tonumber(ARGV[2])
local key = tag .. ':buf:' .. user
local held = redis.call('HGETALL', key)
local pending, kept = 0, 0
for i = 1, #held, 2 do
  if (tonumber(string.match(held[i + 1], '^(%d+)~')) or 0) < generation then
    redis.call('HDEL', key, held[i])
    pending = pending + 1
  else
    kept = kept + 1
  end
end
if pending > 0 then redis.call('HINCRBY', tag .. ':ledger', 'erased', pending) end
local hash = redis.sha1hex(user)
local known = redis.call('HGET', tag .. ':erased', hash)
if (known and tonumber(string.match(known, '^%d+')) or 0) <= generation then
  redis.call('HSET', tag .. ':erased', hash, ARGV[2] .. '|' .. ARGV[3])
end
if kept > 0 then return pending end
for _, kind in ipairs({ 'checkin', 'sync' }) do
  for half = 0, 1 do redis.call('HDEL', tag .. ':win:' .. kind .. ':' .. half, user) end
end
redis.call('ZREM', tag .. ':pending', user)
redis.call('HDEL', tag .. ':live', user)
redis.call('ZREM', tag .. ':moved', user)
redis.call('SREM', tag .. ':hidden', user)
return pending
