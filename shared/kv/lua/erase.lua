-- Forgets a pilgrim, and remembers that points of before are not to come back.
-- KEYS[1] the partition's hash tag; ARGV user, generation, time of the erasure (ms)
-- Answers how many pending points went
local tag, user = KEYS[1], ARGV[1]
local key = tag .. ':buf:' .. user
local pending = redis.call('HLEN', key)
redis.call('DEL', key)
for _, kind in ipairs({ 'checkin', 'sync' }) do
  for half = 0, 1 do redis.call('HDEL', tag .. ':win:' .. kind .. ':' .. half, user) end
end
redis.call('ZREM', tag .. ':pending', user)
redis.call('HDEL', tag .. ':live', user)
redis.call('ZREM', tag .. ':moved', user)
redis.call('SREM', tag .. ':hidden', user)
redis.call('HSET', tag .. ':erased', redis.sha1hex(user), ARGV[2] .. '|' .. ARGV[3])
if pending > 0 then redis.call('HINCRBY', tag .. ':ledger', 'erased', pending) end
return pending
