-- The limits of a pilgrim's check-ins and track points, and which check-in repeats an earlier one. This text is put
-- before admit-points.lua.

-- Maps names to the stored values; false for a name without one.
local function held(names, values)
  local by = {}
  for i, name in ipairs(names) do by[name] = values[i] end
  return by
end

-- A pilgrim's window is "ms|request id|duplicate key|time at which it counts;" per charged call, oldest first. Calls of
-- tracker apps have no duplicate key. Those in the same part of a window are one entry with their number in its place
-- and the time of the last one, because an app sends a whole day at once. Two
-- hashes hold the windows of all pilgrims. Time is divided into spans as long as a window, which use the two hashes in
-- turn. A window is in the span of its last call; windows older than the previous span have expired, so a whole hash is
-- deleted at a time.
local SPAN = '#'
local function openWindows(tag, kind, names, now, max, windowMs, keepMs)
  local span = math.floor(now / keepMs)
  local key, before = tag .. ':win:' .. kind .. ':' .. span % 2, tag .. ':win:' .. kind .. ':' .. (span + 1) % 2
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
  return {
    kind = kind, now = now, nowText = string.format('%.0f', now), max = max, ms = windowMs, keepMs = keepMs,
    span = span, key = key, isNew = isNew, by = by, charged = {},
  }
end

-- Number of calls of an entry. The key of a check-in begins with a letter.
local function callsOf(key) return tonumber(key) or 1 end

-- Returns the calls after `since` as text, and how many of them are after `from`.
local function readWindow(raw, since, from)
  if not raw then return '', 0 end
  local first, recent = nil, 0
  for start, ms, key in string.gmatch(raw, '()(%d+)|[^|;]*|([^|;]*)|[^;]*;') do
    ms = tonumber(ms)
    if ms > since then first = first or start end
    if ms > from then recent = recent + callsOf(key) end
  end
  return first and string.sub(raw, first) or '', recent
end

-- Returns the time (ms) of the call that must leave the window before it has room; `excess` calls must leave before it.
local function fullUntil(window, from, excess)
  for ms, key in string.gmatch(window, '(%d+)|[^|;]*|([^|;]*)|[^;]*;') do
    if tonumber(ms) > from then
      excess = excess - callsOf(key)
      if excess < 0 then return tonumber(ms) end
    end
  end
end

-- Decides whether a pilgrim's call is within the limit. Returns their window, whether it holds this call already, which
-- is charged once, and the time (ms) until there is room; nil if there is.
local function checkLimit(open, user, call)
  local window, charges = readWindow(open.by[user], open.now - open.keepMs, open.now - open.ms)
  local charged = open.kind ~= 'ingest' and window ~= '' and string.find(window, '|' .. string.match(call, '^[^|]*') .. '|', 1, true)
  if charged or charges < open.max then return window, charged, nil end
  return window, charged, fullUntil(window, open.now - open.ms, charges - open.max) + open.ms - open.now
end

-- Returns the time at which the first check-in counts that this one repeats: one with the same duplicate key after
-- `since`.
local function repeatedOf(window, call, since)
  local duplicateKey = string.match(call, '|([^|]*)|')
  if duplicateKey == '' or not string.find(window, '|' .. duplicateKey .. '|', 1, true) then return nil end
  for ms, key, recorded in string.gmatch(window, '(%d+)|[^|;]*|([^|;]*)|([^|;]*);') do
    if key == duplicateKey and tonumber(ms) > since then return recorded end
  end
end

-- The same number is in shared/stores/kv/embedded/state.ts.
local WINDOW_PARTS = 12

-- Takes the last entry out of the window if a call of a tracker app belongs to it. Returns the window, and the call
-- with the number of calls.
local function joined(open, window, call)
  local before, ms, key = string.match(window, '^(.-)(%d+)|[^|;]*|([^|;]*)|[^|;]*;$')
  local function partOf(time) return math.floor(time * WINDOW_PARTS / open.ms) end
  if not ms or partOf(tonumber(ms)) ~= partOf(open.now) then return window, call end
  return before, (string.gsub(call, '|[^|]*|', '|' .. callsOf(key) + 1 .. '|'))
end

local function charge(open, user, window, call)
  if open.kind == 'ingest' then window, call = joined(open, window, call) end
  if not open.charged[user] then table.insert(open.charged, user) end
  open.charged[user] = true
  open.by[user] = window .. open.nowText .. '|' .. call .. ';'
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
  -- It begins in its own span, so this is later than the end of the next one.
  if open.isNew then redis.call('PEXPIRE', open.key, 2 * open.keepMs) end
end
