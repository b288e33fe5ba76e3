-- Returns the score of the next change of the live map: the time (ms), but higher than every score before, so that no two
-- changes share one and a clock that was set back hides none. `embedded/state.ts` has the same rule.
local function nextChange(tag, now)
  local last = redis.call('ZREVRANGE', tag .. ':moved', 0, 0, 'WITHSCORES')[2]
  return math.max(tonumber(last or 0) + 1, now)
end

