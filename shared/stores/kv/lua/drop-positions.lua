-- Removes positions outside of a span of time from the live map, those that changed longest ago first.
-- KEYS[1] the partition's hash tag; ARGV how many positions to skip, how many to look at (at most some thousands), and
-- the span: from and to (epoch ms)
-- Returns how many were looked at, and how many of them were removed
local tag, skip, count = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local from, to = tonumber(ARGV[3]), tonumber(ARGV[4])
local users = redis.call('ZRANGE', tag .. ':moved', skip, skip + count - 1)
if #users == 0 then return { 0, 0 } end
local gone = {}
for i, place in ipairs(redis.call('HMGET', tag .. ':live', unpack(users))) do
  local t = place and tonumber(string.match(place, '^[^,]+'))
  if not t or t < from or t > to then gone[#gone + 1] = users[i] end
end
if #gone > 0 then
  redis.call('HDEL', tag .. ':live', unpack(gone))
  redis.call('ZREM', tag .. ':moved', unpack(gone))
  redis.call('ZREM', tag .. ':returning', unpack(gone))
end
return { #users, #gone }
