-- Releases or extends a lock, only for the holder of its token.
-- KEYS[1] the lock; ARGV token, ttl ms (0: release)
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if tonumber(ARGV[2]) > 0 then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return redis.call('DEL', KEYS[1])
