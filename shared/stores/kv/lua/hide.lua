-- Hides a pilgrim from the live map, or shows them again from the next full hour on.
-- KEYS[1] the partition's hash tag; ARGV the pilgrim, 1: hidden, 1: points are refused
local tag, user, hidden, refused = KEYS[1], ARGV[1], ARGV[2] == '1', ARGV[3] == '1'
local changed = redis.call(hidden and 'SADD' or 'SREM', tag .. ':hidden', user)
redis.call(refused and 'SADD' or 'SREM', tag .. ':refused', user)
if changed == 0 or redis.call('HEXISTS', tag .. ':live', user) == 0 then return end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', tag .. ':returning', '-inf', now)
if not hidden then
  redis.call('ZADD', tag .. ':returning', string.format('%.0f', now - now % 3600000 + 3600000), user)
end
redis.call('ZADD', tag .. ':moved', string.format('%.0f', nextChange(tag, now)), user)
