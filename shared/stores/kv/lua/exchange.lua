-- Stores a cache entry, or deletes it, if it is still as it was read.
-- KEYS[1] the entry; ARGV what was read, the new value (empty: none), ttl ms
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
return 1
