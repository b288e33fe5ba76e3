-- Sets the event's status unless a newer one is stored; begins an epoch if there is none.
-- KEYS[1] the partition's hash tag; ARGV version, status, message, an epoch for a new store
local tag = KEYS[1]
local epoch = beginCounters(tag, ARGV[4])
local held = redis.call('GET', tag .. ':status')
if not held or tonumber(string.match(held, '^%d+')) <= tonumber(ARGV[1]) then
  redis.call('SET', tag .. ':status', ARGV[1] .. '|' .. ARGV[2] .. '|' .. epoch .. '|' .. ARGV[3])
end
return redis.call('GET', tag .. ':status')
