-- Decides and buffers the submissions of one partition, in order, in one atomic call. What all of them need is
-- read at once before and written at once after: a call of a command costs more than what the command does.
-- KEYS[1]  the partition's hash tag, such as {gps:0}; all keys are made from it, so all share its slot
-- ARGV     caller, epoch for a store without one (empty: admit, otherwise: restore), checkin max, checkin
--          window ms, sync max, sync window ms, duplicate window ms, retention s, most pending points, then
--          in one text per submission (some hundreds at most) lines: kind;user;call;position (t,lat,lng or
--          empty);n, and n × (field, value). A call is what a window keeps of it: request id|duplicate key|its place
--          in time (ms)
-- Answers  {how many points of its pilgrim wait after each submission, in one text; those that are not admitted
--          whole by their place (from 1), each followed by {outcome, …}; new points; the caller's points so far; epoch}
local tag = KEYS[1]
local restoring = ARGV[2] ~= ''
local limits = {
  checkin = { tonumber(ARGV[3]), tonumber(ARGV[4]) },
  sync = { tonumber(ARGV[5]), tonumber(ARGV[6]) },
}
local duplicateMs, retentionS, pendingMax = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local nowText = string.format('%.0f', now)

-- Why nothing is admitted, and the epoch. The status tells it, so that admission need not ask for it.
local function refusal()
  if restoring then return nil, beginBooks(tag, ARGV[2]) end
  local status = redis.call('GET', tag .. ':status')
  if not status then return { 'unknown' } end
  local name, epoch, message = string.match(status, '^%d+|(%a+)|([^|]*)|(.*)$')
  if not name then return { 'unknown' } end
  if name ~= 'active' then return { name, message } end
  return nil, epoch
end
local refused, epoch = refusal()

-- Fields and values of all submissions, in turns.
local entries = {}
local text = ARGV[10] or ''

-- Reads n of them from the text; answers where it goes on.
local function readEntries(from, n)
  for i = #entries + 1, #entries + 2 * n do
    local ends = string.find(text, '\n', from, true)
    entries[i] = string.sub(text, from, ends - 1)
    from = ends + 1
  end
  return from
end

local users, submissions = {}, {}
local callers = { checkin = {}, sync = {} }
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

-- What the store holds under some names; false where it holds nothing.
local function held(names, values)
  local by = {}
  for i, name in ipairs(names) do by[name] = values[i] end
  return by
end

-- A pilgrim's window is "ms|request id|duplicate key|place in time;" per charged call, oldest first, in one of two
-- hashes for all: spans of time as long as a window have them in turns. A window stands in the span of its last
-- call, so what is older than the span before counts for nothing, and a whole hash goes at once.
local SPAN = '#'
local function openWindows(kind)
  local max, windowMs = unpack(limits[kind])
  local keepMs = kind == 'checkin' and math.max(windowMs, duplicateMs) or windowMs
  local span = math.floor(now / keepMs)
  local key, before = tag .. ':win:' .. kind .. ':' .. span % 2, tag .. ':win:' .. kind .. ':' .. (span + 1) % 2
  local names = callers[kind]
  local values = redis.call('HMGET', key, SPAN, unpack(names))
  local isNew = table.remove(values, 1) ~= string.format('%.0f', span)
  local by = isNew and {} or held(names, values)
  local older = {}
  for _, name in ipairs(names) do if not by[name] then older[#older + 1] = name end end
  if #older > 0 then
    values = redis.call('HMGET', before, SPAN, unpack(older))
    if table.remove(values, 1) == string.format('%.0f', span - 1) then
      for i, name in ipairs(older) do by[name] = values[i] end
    end
  end
  return { max = max, ms = windowMs, keepMs = keepMs, span = span, key = key, isNew = isNew, by = by, charged = {} }
end
local places, windows = {}, {}
if not refused and #users > 0 then
  places = held(users, redis.call('HMGET', tag .. ':live', unpack(users)))
  for kind, names in pairs(callers) do
    if not restoring and #names > 0 then windows[kind] = openWindows(kind) end
  end
end

-- Answers the calls after `since` as text, and how many of them are younger than `from`.
local function readWindow(raw, since, from)
  if not raw then return '', 0 end
  local kept, young = nil, 0
  for start, ms in string.gmatch(raw, '()(%d+)|[^;]*;') do
    ms = tonumber(ms)
    if ms > since then kept = kept or start end
    if ms > from then young = young + 1 end
  end
  return kept and string.sub(raw, kept) or '', young
end

-- Until when the window of a length is full that holds so many calls too many.
local function fullUntil(window, from, excess)
  for ms in string.gmatch(window, '(%d+)|[^;]*;') do
    if tonumber(ms) > from then
      if excess == 0 then return tonumber(ms) end
      excess = excess - 1
    end
  end
end

-- The place in time of the first call in a window with the same key after `since`.
local function placeOf(window, duplicateKey, since)
  if duplicateKey == '' or not string.find(window, '|' .. duplicateKey .. '|', 1, true) then return nil end
  for ms, key, recorded in string.gmatch(window, '(%d+)|[^|;]*|([^|;]*)|([^|;]*);') do
    if key == duplicateKey and tonumber(ms) > since then return recorded end
  end
end

-- A call with another place in time.
local function placed(call, recorded)
  -- The bar belongs to the pattern: without it the empty end would match as well.
  return (string.gsub(call, '|[^|]*$', '|' .. recorded))
end

local function charge(open, user, window, call)
  if not open.charged[user] then table.insert(open.charged, user) end
  open.charged[user] = true
  open.by[user] = window .. nowText .. '|' .. call .. ';'
end

local function writeWindows(open)
  if #open.charged == 0 then return end
  if open.isNew then redis.call('UNLINK', open.key) end
  local values = { SPAN, string.format('%.0f', open.span) }
  for _, user in ipairs(open.charged) do
    values[#values + 1] = user
    values[#values + 1] = open.by[user]
  end
  redis.call('HSET', open.key, unpack(values))
  redis.call('PEXPIRE', open.key, 2 * open.keepMs)
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
  local received = at and tonumber(string.match(value, '^%[[^,]*,(%d+)'))
  return received and received <= at
end

-- What the identity of a check-in begins with: c.
local CHECKIN = 99
local function count(field)
  if string.byte(field) == CHECKIN then checkins = checkins + 1 end
end

-- Lua hands over some thousands of arguments at once, not more.
local ENTRIES_A_CALL = 1000
local waiting = {}

-- A write keeps a buffer for the retention from now, or a thousandth longer: most of the next ones need not
-- renew it then.
local keptS = retentionS + math.floor(retentionS / 1000)

-- What a packed check-in says of itself: its place, and whether it has no time of its own and stands at its receipt.
local function standing(field, value)
  local offset, received, place = string.match(value, '%[(%-?%d+),(%d+),([^,]+,[^,]+),')
  return place, offset == '0' and tonumber(received) <= tonumber(string.sub(field, 2))
end

-- The first instant from its own on that is free, or that holds this very check-in; and how many ms that is later.
-- Two check-ins at different places, of which one has no time of its own, share an instant by accident
-- (shared/buffer/point.ts says the same). `at` tells what is held at an instant.
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

-- Puts up to ENTRIES_A_CALL entries[first …] into a hash; answers how many were there already, whether the
-- first was, how many were of somebody erased since, and how many ms later the first stands than it came.
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

-- Puts entries[first …] into the pilgrim's buffer; answers how many were there already, whether the
-- first was, how many points wait now, how many were of somebody erased since, and how many ms later the first stands.
local function buffer(user, first, n)
  local key = tag .. ':buf:' .. user
  local before = redis.call('HLEN', key)
  if n == 0 then return 0, 0, before, 0, 0 end
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
  if before == 0 or redis.call('PTTL', key) < 1000 * retentionS then redis.call('EXPIRE', key, keptS) end
  admitted = admitted + n - known - late
  gone = gone + late
  duplicate = duplicate + known
  return known, firstKnown, pending, late, later
end

local moved, movers = {}, {}
local function move(user, position)
  local last = places[user]
  if last and tonumber(string.match(last, '^[^,]+')) > tonumber(string.match(position, '^[^,]+')) then return end
  if not moved[user] then movers[#movers + 1] = user end
  moved[user], places[user] = true, position
end

local function decide(submission)
  if refused then return refused end
  local kind, user, call, position, first, n = unpack(submission)
  local open, window, charged = windows[kind], '', false
  if open then
    local charges
    window, charges = readWindow(open.by[user], now - open.keepMs, now - open.ms)
    charged = window ~= '' and string.find(window, '|' .. string.match(call, '^[^|]*') .. '|', 1, true)
    if charges >= open.max and not charged then
      return { 'limited', fullUntil(window, now - open.ms, charges - open.max) + open.ms - now }
    end
    local firstRecorded = window ~= '' and placeOf(window, string.match(call, '|([^|]*)|'), now - duplicateMs)
    if firstRecorded then
      -- The check-in is known; points that came with it are taken all the same.
      local known, _, pending, late = buffer(user, first + 2, n - 1)
      if not known then return { 'full' } end
      duplicate = duplicate + 1
      if not charged then charge(open, user, window, placed(call, firstRecorded)) end
      if n > 1 and position ~= '' and late == 0 then move(user, position) end
      return { 'admitted', known + 1, 1, pending, firstRecorded, '' }
    end
  end
  local known, firstKnown, pending, late, later = buffer(user, first, n)
  if not known then return { 'full' } end
  if position ~= '' and late == 0 then move(user, position) end
  local recorded = string.match(call, '[^|]*$')
  if later > 0 then
    recorded = string.format('%.0f', recorded + later)
    call = placed(call, recorded)
  end
  -- Of somebody erased since not even the window remembers the call.
  if open and not charged and late == 0 then charge(open, user, window, call) end
  if known == 0 and later == 0 then return pending end
  local held = ''
  if firstKnown == 1 and later == 0 and kind == 'checkin' then held = redis.call('HGET', tag .. ':buf:' .. user, entries[first]) end
  return { 'admitted', known, firstKnown, pending, recorded, held }
end

local pendings, others = {}, {}
for i, submission in ipairs(submissions) do
  local verdict = decide(submission)
  local isWhole = type(verdict) == 'number'
  pendings[i] = isWhole and verdict or 0
  if not isWhole then
    others[#others + 1] = i
    others[#others + 1] = verdict
  end
end
for _, open in pairs(windows) do writeWindows(open) end
if #waiting > 0 and redis.call('ZADD', tag .. ':pending', unpack(waiting)) < #waiting / 2 then
  -- On the list, and yet nothing was there: what waited has expired.
  redis.call('HSET', tag .. ':ledger', 'recount', 1)
end
if #movers > 0 then
  local newPlaces, times = {}, {}
  for i, user in ipairs(movers) do
    newPlaces[2 * i - 1], newPlaces[2 * i] = user, places[user]
    times[2 * i - 1], times[2 * i] = nowText, user
  end
  redis.call('HSET', tag .. ':live', unpack(newPlaces))
  redis.call('ZADD', tag .. ':moved', unpack(times))
end
local total = 0
if admitted > 0 then total = redis.call('HINCRBY', tag .. ':ledger', 'caller:' .. ARGV[1], admitted) end
if checkins > 0 then redis.call('HINCRBY', tag .. ':ledger', 'checkins', checkins) end
if duplicate > 0 then redis.call('HINCRBY', tag .. ':ledger', 'duplicate', duplicate) end
if gone > 0 then redis.call('HINCRBY', tag .. ':ledger', 'dropped', gone) end
return { table.concat(pendings, ','), others, admitted, total, epoch or '' }
