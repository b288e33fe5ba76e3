-- Deletes exactly the entries that were stored, and takes a pilgrim whose buffer is empty off the list. One
-- who goes on sending waits from now on.
-- KEYS[1] the partition's hash tag; ARGV per pilgrim: user, n, n × (field, value)
local tag = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local at = 1
while at <= #ARGV do
  local user, n = ARGV[at], tonumber(ARGV[at + 1])
  local key = tag .. ':buf:' .. user
  for i = 0, n - 1 do
    local field = ARGV[at + 2 + 2 * i]
    if redis.call('HGET', key, field) == ARGV[at + 3 + 2 * i] then redis.call('HDEL', key, field) end
  end
  if redis.call('EXISTS', key) == 0 then
    redis.call('ZREM', tag .. ':pending', user)
  elseif n > 0 then
    redis.call('ZADD', tag .. ':pending', 'XX', now, user)
  end
  at = at + 2 + 2 * n
end
