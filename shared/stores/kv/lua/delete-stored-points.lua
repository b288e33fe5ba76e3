-- Acknowledges stored entries: deletes exactly these, and removes a pilgrim whose buffer is empty from the pending
-- list. The pending time of a pilgrim with further points starts again.
-- KEYS[1] the partition's hash tag; ARGV the epoch of the entries (empty: any), and as JSON a list per pilgrim:
-- user, then alternating fields and values
local tag = KEYS[1]
local ledger = tag .. ':ledger'
if ARGV[1] ~= '' and redis.call('HGET', ledger, 'epoch') ~= ARGV[1] then return end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- Values per command: Lua's stack holds some thousands.
local FIELDS_A_CALL = 1000

-- Returns whether a pilgrim's buffer holds these n entries, in this order, and nothing else.
local function holdsOnly(key, list, n)
  if redis.call('HLEN', key) ~= n then return false end
  local held = redis.call('HGETALL', key)
  for i = 1, 2 * n do
    if held[i] ~= list[i + 1] then return false end
  end
  return true
end

-- Deletes a pilgrim's entries whose values are still the same; returns how many.
local function delete(key, list, n)
  -- The usual case: no point has arrived since the flush read the buffer.
  if n > 0 and holdsOnly(key, list, n) then
    redis.call('DEL', key)
    return n
  end
  local deleted = 0
  for from = 0, n - 1, FIELDS_A_CALL do
    local fields = {}
    for i = from + 1, math.min(from + FIELDS_A_CALL, n) do
      fields[#fields + 1] = list[2 * i]
    end
    local held = redis.call('HMGET', key, unpack(fields))
    local same = {}
    for i, field in ipairs(fields) do
      if held[i] == list[2 * (from + i) + 1] then same[#same + 1] = field end
    end
    if #same > 0 then deleted = deleted + redis.call('HDEL', key, unpack(same)) end
  end
  return deleted
end

local settled, expired = 0, false
for _, list in ipairs(cjson.decode(ARGV[2])) do
  local user, n = list[1], (#list - 1) / 2
  local key = tag .. ':buf:' .. user
  local deleted = delete(key, list, n)
  settled = settled + deleted
  if redis.call('EXISTS', key) == 0 then
    local listed = redis.call('ZREM', tag .. ':pending', user) == 1
    if listed and deleted == 0 then expired = true end
  elseif n > 0 then
    redis.call('ZADD', tag .. ':pending', 'XX', now, user)
  end
end
if settled > 0 then redis.call('HINCRBY', ledger, 'settled', settled) end
if expired or redis.call('EXISTS', tag .. ':pending') == 0 or redis.call('HEXISTS', ledger, 'recount') == 1 then
  recount(tag)
end
