-- Admits the submissions of one partition, in order, in one atomic call. Shared data is read once before and written
-- once after all decisions, because the call of a command costs more than its work.
-- KEYS[1]  the partition's hash tag, such as {gps:0}; all keys begin with it, so all share its slot
-- ARGV     caller, epoch for a store without one (empty: admit, otherwise: restore), checkin max, checkin
--          window ms, sync max, sync window ms, ingest max, ingest window ms, duplicate window ms, retention s, max
--          pending points, then one text with lines for each submission (some hundreds at most): kind;user;call;position (t,lat,lng, t,lat,lng,rough or empty);n, and
--          n × (field, value). A call is stored in the window: request id|duplicate key|time at which it counts (ms)
-- Returns  {the pilgrim's pending points after each submission, as one text; each submission that was not admitted
--          completely: its index (from 1), followed by {outcome, …}; new points; the caller's points so far; epoch}
local tag = KEYS[1]
local restoring = ARGV[2] ~= ''
local limits = {
  checkin = { tonumber(ARGV[3]), tonumber(ARGV[4]) },
  sync = { tonumber(ARGV[5]), tonumber(ARGV[6]) },
  ingest = { tonumber(ARGV[7]), tonumber(ARGV[8]) },
}
local duplicateMs, retentionS, pendingMax = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local nowText = string.format('%.0f', now)

-- Returns the reason why nothing is admitted, or nil and the epoch. The status holds a copy of the epoch, so that
-- admission reads only one key.
local function refusal()
  if restoring then return nil, beginCounters(tag, ARGV[2]) end
  local status = redis.call('GET', tag .. ':status')
  if not status then return { 'unknown' } end
  local name, epoch, message = string.match(status, '^%d+|(%a+)|([^|]*)|(.*)$')
  if not name then return { 'unknown' } end
  if name ~= 'active' then return { name, message } end
  return nil, epoch
end
local refused, epoch = refusal()

-- Alternating fields and values of all submissions.
local entries = {}
local text = ARGV[12] or ''

-- Reads n entries from the text; returns the position after them.
local function readEntries(from, n)
  for i = #entries + 1, #entries + 2 * n do
    local ends = string.find(text, '\n', from, true)
    entries[i] = string.sub(text, from, ends - 1)
    from = ends + 1
  end
  return from
end

local users, submissions = {}, {}
local callers = { checkin = {}, sync = {}, ingest = {} }
local at = 1
while at <= #text do
  local kind, user, call, position, n, from =
    string.match(text, '^(%a+);([^;]*);([^;]*);([^;]*);(%d+)\n()', at)
  n = tonumber(n)
  users[#users + 1] = user
  table.insert(callers[kind], user)
  submissions[#submissions + 1] = { kind, user, call, position, #entries + 1, n }
  at = readEntries(from, n)
end

local places, windows = {}, {}
if not refused and #users > 0 then
  places = held(users, redis.call('HMGET', tag .. ':live', unpack(users)))
  for kind, names in pairs(callers) do
    if not restoring and #names > 0 then
      local max, windowMs = unpack(limits[kind])
      local keepMs = kind == 'checkin' and math.max(windowMs, duplicateMs) or windowMs
      windows[kind] = openWindows(tag, kind, names, now, max, windowMs, keepMs)
    end
  end
end

-- Returns the time at which a call counts.
local function recordedOf(call)
  return string.match(call, '|([^|]*)$')
end

-- Returns a call with another time at which it counts.
local function placed(call, recorded)
  -- The pattern includes the bar: without it, the empty end would match as well.
  return (string.gsub(call, '|[^|]*$', '|' .. recorded))
end

local admitted, checkins, duplicate, gone = 0, 0, 0, 0

-- Erasures: "generation|time until which received points are not accepted (ms)" by SHA-1 of the user id, and those who
-- have taken back their consent. Mostly there are none.
-- The time of an erasure that stands is later by this.
local STANDS = 4e15
local someErased = redis.call('EXISTS', tag .. ':erased') == 1
local someRefused = not restoring and redis.call('EXISTS', tag .. ':refused') == 1

-- Returns the prefix of a pilgrim's points, and the time of their erasure; '' and nil if they were never erased.
local function generationOf(user)
  local held = someErased and redis.call('HGET', tag .. ':erased', redis.sha1hex(user))
  if not held then return '' end
  local generation, at = string.match(held, '^(%d+)|(%d+)$')
  return generation .. '~', tonumber(at)
end

-- Whether a packed point was received before `at`. Its second number is its time of receipt.
local function receivedBefore(value, at)
  local received = at and tonumber(string.match(value, '^%[[^,]*,(%d+)'))
  return received and received <= at
end

-- Whether a pilgrim was erased and has not consented anew, or after their packed point was received.
local function isErased(user, value)
  local _, at = generationOf(user)
  return at and (at >= STANDS or value and receivedBefore(value, at))
end

-- First byte of a check-in's identity: c.
local CHECKIN = 99
local function count(field)
  if string.byte(field) == CHECKIN then checkins = checkins + 1 end
end

-- Lua's stack holds some thousands of arguments per command.
local ENTRIES_A_CALL = 1000
local waiting = {}

-- A write sets the expiry of a buffer a thousandth later than the retention: most of the following writes then need
-- not renew it.
local expiryS = retentionS + math.floor(retentionS / 1000)

-- Returns the place of a packed check-in, and whether it came without a timestamp, so that it counts at its receipt.
local function standing(field, value)
  local offset, received, place = string.match(value, '%[(%-?%d+),(%d+),([^,]+,[^,]+),')
  return place, offset == '0' and tonumber(received) <= tonumber(string.sub(field, 2))
end

-- Returns the first instant from the check-in's own on that is free or holds this same check-in, and the delay in ms.
-- Two check-ins at different places, of which one came without a timestamp, share an instant by accident
-- (the same rule is in shared/stores/kv/kv.ts). `at` returns the value at an instant.
local function ownInstant(field, value, at)
  local place, isUntimed = standing(field, value)
  local own, later, there = field, 0, at(field)
  while there and place do
    local other, wasUntimed = standing(own, there)
    if not other or other == place or not (isUntimed or wasUntimed) then break end
    later = later + 1
    own = string.format('c%.0f', string.sub(field, 2) + later)
    there = at(own)
  end
  return own, later
end

-- Puts up to ENTRIES_A_CALL entries[first …] into a hash. Returns how many were there already, whether the first one
-- was, how many were received before an erasure of the pilgrim, and the delay of the first one (ms).
local function put(key, isEmpty, first, n, stamp, erasedAt)
  local known, firstKnown, late, firstLater = 0, 0, 0, 0
  local function heldAt(field) return redis.call('HGET', key, field) end
  if n == 1 and not erasedAt then
    local field, value = entries[first], stamp .. entries[first + 1]
    if redis.call('HSETNX', key, field, value) == 0 then
      if string.byte(field) ~= CHECKIN then return 1, 1, 0, 0 end
      field, firstLater = ownInstant(field, value, heldAt)
      if firstLater == 0 or redis.call('HSETNX', key, field, value) == 0 then return 1, 1, 0, firstLater end
    end
    count(field)
    return 0, 0, 0, firstLater
  end
  local fields, fresh = {}, {}
  for i = 1, n do fields[i] = entries[first + 2 * i - 2] end
  local there = isEmpty and {} or held(fields, redis.call('HMGET', key, unpack(fields)))
  local function thereAt(field)
    if there[field] == nil then there[field] = not isEmpty and heldAt(field) end
    return there[field]
  end
  for i, field in ipairs(fields) do
    local value = entries[first + 2 * i - 1]
    if receivedBefore(value, erasedAt) then
      late = late + 1
    else
      value = stamp .. value
      if string.byte(field) == CHECKIN then
        local later
        field, later = ownInstant(field, value, thereAt)
        if i == 1 then firstLater = later end
      end
      if there[field] then
        known = known + 1
        if i == 1 then firstKnown = 1 end
      else
        there[field] = value
        count(field)
        fresh[#fresh + 1] = field
        fresh[#fresh + 1] = value
      end
    end
  end
  if #fresh > 0 then redis.call('HSET', key, unpack(fresh)) end
  return known, firstKnown, late, firstLater
end

-- Puts entries[first …] into the pilgrim's buffer; nil when it is full. Returns how many were there already, whether
-- the first one was, the pending points now, how many were received before an erasure, and the delay of the first (ms).
local function buffer(user, first, n)
  local key = tag .. ':buf:' .. user
  local before = redis.call('HLEN', key)
  if n == 0 then return 0, 0, before, isErased(user) and 1 or 0, 0 end
  if not restoring and before + n > pendingMax then return nil end
  local stamp, erasedAt = generationOf(user)
  local known, firstKnown, late, later = 0, 0, 0, 0
  for from = 0, n - 1, ENTRIES_A_CALL do
    local isEmpty = before == 0 and from == 0
    local k, f, l, m =
      put(key, isEmpty, first + 2 * from, math.min(ENTRIES_A_CALL, n - from), stamp, erasedAt)
    known, late = known + k, late + l
    if from == 0 then firstKnown, later = f, m end
  end
  local pending = before + n - known - late
  if before == 0 and pending > 0 then
    waiting[#waiting + 1] = nowText
    waiting[#waiting + 1] = user
  end
  if before == 0 or redis.call('PTTL', key) < 1000 * retentionS then redis.call('EXPIRE', key, expiryS) end
  admitted = admitted + n - known - late
  gone = gone + late
  duplicate = duplicate + known
  return known, firstKnown, pending, late, later
end

-- Of two positions the one with the higher rank is on the map (kv.ts): a rough one counts as an hour older.
local function rank(position)
  local t = tonumber(string.match(position, '^[^,]+'))
  return string.find(position, ',rough', 1, true) and t - 3600000 or t
end

local moved, movers = {}, {}
local function move(user, position)
  local last = places[user]
  if last and rank(last) > rank(position) then return end
  if not moved[user] then movers[#movers + 1] = user end
  moved[user], places[user] = true, position
end

local function decide(submission)
  if refused then return refused end
  local kind, user, call, position, first, n = unpack(submission)
  if someRefused and redis.call('SISMEMBER', tag .. ':refused', user) == 1 then return { 'no-consent' } end
  if not restoring and isErased(user, n > 0 and entries[first + 1]) then return { 'erased' } end
  local open, window, charged = windows[kind], '', false
  if open then
    local waitMs
    window, charged, waitMs = checkLimit(open, user, call)
    if waitMs then return { 'limited', waitMs } end
    local firstRecorded = window ~= '' and repeatedOf(window, call, now - duplicateMs)
    if firstRecorded then
      -- The check-in is a duplicate; its track points are accepted nevertheless.
      local known, _, pending, late = buffer(user, first + 2, n - 1)
      if not known then return { 'full' } end
      duplicate = duplicate + 1
      if not charged and late == 0 then charge(open, user, window, placed(call, firstRecorded)) end
      if n > 1 and position ~= '' and late == 0 then move(user, position) end
      return { 'admitted', known + 1, 1, pending, firstRecorded, '' }
    end
  end
  local known, firstKnown, pending, late, later = buffer(user, first, n)
  if not known then return { 'full' } end
  if position ~= '' and late == 0 then move(user, position) end
  if later > 0 then call = placed(call, string.format('%.0f', recordedOf(call) + later)) end
  -- Where points of an erased person were dropped, the window does not store the call either.
  local isRepeated = kind == 'ingest' and n > 0 and known == n
  if open and not charged and late == 0 and not isRepeated then charge(open, user, window, call) end
  if known == 0 and later == 0 then return pending end
  local held = ''
  if firstKnown == 1 and later == 0 and kind == 'checkin' then held = redis.call('HGET', tag .. ':buf:' .. user, entries[first]) end
  return { 'admitted', known, firstKnown, pending, recordedOf(call), held }
end

local pendings, others = {}, {}
for i, submission in ipairs(submissions) do
  local verdict = decide(submission)
  local isComplete = type(verdict) == 'number'
  pendings[i] = isComplete and verdict or 0
  if not isComplete then
    others[#others + 1] = i
    others[#others + 1] = verdict
  end
end
for _, open in pairs(windows) do writeWindows(open) end
if #waiting > 0 and redis.call('ZADD', tag .. ':pending', unpack(waiting)) < #waiting / 2 then
  -- A listed pilgrim had an empty buffer: their points have expired.
  redis.call('HSET', tag .. ':ledger', 'recount', 1)
end
if #movers > 0 then
  local newPlaces, scores = {}, {}
  local first = nextChange(tag, now)
  for i, user in ipairs(movers) do
    newPlaces[2 * i - 1], newPlaces[2 * i] = user, places[user]
    scores[2 * i - 1], scores[2 * i] = string.format('%.0f', first + i - 1), user
  end
  redis.call('HSET', tag .. ':live', unpack(newPlaces))
  redis.call('ZADD', tag .. ':moved', unpack(scores))
end
local total = 0
if admitted > 0 then total = redis.call('HINCRBY', tag .. ':ledger', 'caller:' .. ARGV[1], admitted) end
if checkins > 0 then redis.call('HINCRBY', tag .. ':ledger', 'checkins', checkins) end
if duplicate > 0 then redis.call('HINCRBY', tag .. ':ledger', 'duplicate', duplicate) end
if gone > 0 then redis.call('HINCRBY', tag .. ':ledger', 'dropped', gone) end
return { table.concat(pendings, ','), others, admitted, total, epoch or '' }
