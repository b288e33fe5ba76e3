-- Takes a lock that is free, or whose holder has not renewed it for so long that it must be gone.
-- KEYS[1] the lock; ARGV token, ttl ms, silence ms (of a holder that renews for the same ttl)
if redis.call('PTTL', KEYS[1]) > ARGV[2] - ARGV[3] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
