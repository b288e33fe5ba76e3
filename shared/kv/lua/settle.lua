-- Deletes exactly the entries that were stored, and takes a pilgrim whose buffer is empty off the list. One
-- who goes on sending waits from now on.
-- KEYS[1] the partition's hash tag; ARGV the epoch of the entries (empty: any), then per pilgrim: user, n,
-- n × (field, value)
local tag = KEYS[1]
local ledger = tag .. ':ledger'
if ARGV[1] ~= '' and redis.call('HGET', ledger, 'epoch') ~= ARGV[1] then return end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- Values that one command may take: Lua has a stack for some thousands.
local AT_ONCE = 1000

-- Deletes n entries ARGV[first …] of a pilgrim; answers how many were there as they were stored.
local function delete(key, first, n)
  local deleted = 0
  for from = 0, n - 1, AT_ONCE do
    local fields = {}
    for i = from, math.min(from + AT_ONCE, n) - 1 do
      fields[#fields + 1] = ARGV[first + 2 * i]
    end
    local held = redis.call('HMGET', key, unpack(fields))
    local same = {}
    for i, field in ipairs(fields) do
      if held[i] == ARGV[first + 2 * (from + i - 1) + 1] then same[#same + 1] = field end
    end
    if #same > 0 then deleted = deleted + redis.call('HDEL', key, unpack(same)) end
  end
  return deleted
end

local settled, expired = 0, false
local at = 2
while at <= #ARGV do
  local user, n = ARGV[at], tonumber(ARGV[at + 1])
  local key = tag .. ':buf:' .. user
  local deleted = delete(key, at + 2, n)
  settled = settled + deleted
  if redis.call('EXISTS', key) == 0 then
    local listed = redis.call('ZREM', tag .. ':pending', user) == 1
    if listed and deleted == 0 then expired = true end
  elseif n > 0 then
    redis.call('ZADD', tag .. ':pending', 'XX', now, user)
  end
  at = at + 2 + 2 * n
end
if settled > 0 then redis.call('HINCRBY', ledger, 'settled', settled) end
if expired or redis.call('EXISTS', tag .. ':pending') == 0 or redis.call('HEXISTS', ledger, 'recount') == 1 then
  recount(tag)
end
