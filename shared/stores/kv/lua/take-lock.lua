-- Acquires a lock that is free, or whose holder has not renewed it for the silence time.
-- KEYS[1] the lock; ARGV token, ttl ms, silence ms (of a holder that renews for the same ttl)
local left = redis.call('PTTL', KEYS[1])
-- The clock was set back: the lock ends after its ttl, and not only when the clock has caught up.
if left > tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if left > ARGV[2] - ARGV[3] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
