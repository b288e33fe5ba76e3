-- Decides and buffers the submissions of one partition, in order, in one atomic call.
-- KEYS[1]  the partition's hash tag, such as {gps:0}; all keys are made from it, so all share its slot
-- ARGV     mode (admit | restore), checkin max, checkin window ms, sync max, sync window ms, duplicate
--          window ms, retention s, most pending points, then per submission:
--          kind, user, request id, duplicate key, its place in time (ms), position (t,lat,lng or
--          empty), n, n × (field, value)
-- Answers  one array per submission: {outcome, …}
local tag = KEYS[1]
local restoring = ARGV[1] == 'restore'
local limits = {
  checkin = { tonumber(ARGV[2]), tonumber(ARGV[3]) },
  sync = { tonumber(ARGV[4]), tonumber(ARGV[5]) },
}
local duplicateMs, retentionS, pendingMax = tonumber(ARGV[6]), ARGV[7], tonumber(ARGV[8])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local status = redis.call('GET', tag .. ':status')
local refused
if not restoring then
  if not status then
    refused = { 'unknown' }
  else
    local name, message = string.match(status, '^%d+|(%a+)|(.*)$')
    if name ~= 'active' then refused = { name, message } end
  end
end

-- A pilgrim's window: "ms|request id|duplicate key|place in time;" per charged call, oldest first.
local function readWindow(key, keepMs)
  local kept = {}
  local raw = redis.call('GET', key)
  if raw then
    for ms, id, duplicate, recorded in string.gmatch(raw, '(%d+)|([^|;]*)|([^|;]*)|([^|;]*);') do
      ms = tonumber(ms)
      if ms > now - keepMs then kept[#kept + 1] = { ms, id, duplicate, recorded } end
    end
  end
  return kept
end

local function writeWindow(key, window, keepMs)
  local parts = {}
  for i, call in ipairs(window) do
    parts[i] = string.format('%.0f', call[1]) .. '|' .. call[2] .. '|' .. call[3] .. '|' .. call[4] .. ';'
  end
  redis.call('SET', key, table.concat(parts), 'PX', keepMs)
end

local admitted, checkins, duplicate, gone = 0, 0, 0, 0

-- Who was erased: "generation|erased at (ms)" by SHA-1 of the user id. Mostly nobody was.
local someErased = redis.call('HLEN', tag .. ':erased') > 0

-- What a pilgrim's points are stamped with, and when they were erased; '' and nil where they never were.
local function generationOf(user)
  local held = someErased and redis.call('HGET', tag .. ':erased', redis.sha1hex(user))
  if not held then return '' end
  local generation, at = string.match(held, '^(%d+)|(%d+)$')
  return generation .. '~', tonumber(at)
end

-- Of a packed point the second number is its time of receipt.
local function receivedBefore(value, at)
  return at and tonumber(string.match(value, '^%[[^,]*,(%d+)')) <= at
end

-- What the identity of a check-in begins with: c.
local CHECKIN = 99

-- Puts entries ARGV[first …] into the pilgrim's buffer; answers how many were there already, whether the
-- first was, how many points wait now, and how many were of somebody erased since.
local function buffer(user, first, n)
  local key = tag .. ':buf:' .. user
  local known, firstKnown, late = 0, 0, 0
  local pending = redis.call('HLEN', key)
  if n == 0 then return 0, 0, pending, 0 end
  if not restoring and pending + n > pendingMax then return nil end
  local before = pending
  local stamp, erasedAt = generationOf(user)
  for i = 0, n - 1 do
    local value = ARGV[first + 2 * i + 1]
    if restoring and receivedBefore(value, erasedAt) then
      late = late + 1
    elseif redis.call('HSETNX', key, ARGV[first + 2 * i], stamp .. value) == 1 then
      pending = pending + 1
      if string.byte(ARGV[first + 2 * i]) == CHECKIN then checkins = checkins + 1 end
    else
      known = known + 1
      if i == 0 then firstKnown = 1 end
    end
  end
  if before == 0 and pending > 0 then redis.call('ZADD', tag .. ':pending', now, user) end
  redis.call('EXPIRE', key, retentionS)
  admitted = admitted + n - known - late
  gone = gone + late
  duplicate = duplicate + known
  return known, firstKnown, pending, late
end

local function move(user, position)
  local t = tonumber(string.match(position, '^[^,]+'))
  local last = redis.call('HGET', tag .. ':live', user)
  if last and tonumber(string.match(last, '^[^,]+')) > t then return end
  redis.call('HSET', tag .. ':live', user, position)
  redis.call('ZADD', tag .. ':moved', now, user)
end

local function decide(kind, user, id, duplicateKey, recorded, position, first, n)
  if refused then return refused end
  local window, windowKey, keepMs, charged
  if not restoring then
    local limit = limits[kind]
    keepMs = limit[2]
    if kind == 'checkin' and duplicateMs > keepMs then keepMs = duplicateMs end
    windowKey = tag .. ':win:' .. kind .. ':' .. user
    window = readWindow(windowKey, keepMs)
    local charges, firstRecorded = {}, nil
    for _, call in ipairs(window) do
      if call[2] == id then charged = true end
      if call[1] > now - limit[2] then charges[#charges + 1] = call[1] end
      if duplicateKey ~= '' and call[3] == duplicateKey and call[1] > now - duplicateMs then
        firstRecorded = firstRecorded or call[4]
      end
    end
    if #charges >= limit[1] and not charged then
      return { 'limited', charges[#charges - limit[1] + 1] + limit[2] - now }
    end
    if firstRecorded then
      -- The check-in is known; points that came with it are taken all the same.
      local known, _, pending = buffer(user, first + 2, n - 1)
      if not known then return { 'full' } end
      duplicate = duplicate + 1
      if not charged then
        window[#window + 1] = { now, id, duplicateKey, firstRecorded }
        writeWindow(windowKey, window, keepMs)
      end
      if n > 1 and position ~= '' then move(user, position) end
      return { 'admitted', known + 1, 1, pending, firstRecorded, '' }
    end
  end
  local known, firstKnown, pending, late = buffer(user, first, n)
  if not known then return { 'full' } end
  if position ~= '' and late == 0 then move(user, position) end
  if window and not charged then
    window[#window + 1] = { now, id, duplicateKey, recorded }
    writeWindow(windowKey, window, keepMs)
  end
  local held = ''
  if firstKnown == 1 and kind == 'checkin' then held = redis.call('HGET', tag .. ':buf:' .. user, ARGV[first]) end
  return { 'admitted', known, firstKnown, pending, recorded, held }
end

local verdicts = {}
local at = 9
while at <= #ARGV do
  local n = tonumber(ARGV[at + 6])
  verdicts[#verdicts + 1] =
    decide(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5], at + 7, n)
  at = at + 7 + 2 * n
end
if admitted > 0 then redis.call('HINCRBY', tag .. ':books', 'admitted', admitted) end
if checkins > 0 then redis.call('HINCRBY', tag .. ':books', 'checkins', checkins) end
if duplicate > 0 then redis.call('HINCRBY', tag .. ':books', 'duplicate', duplicate) end
if gone > 0 then redis.call('HINCRBY', tag .. ':books', 'erased', gone) end
return verdicts
