-- wrk: a check-in of another pilgrim with each request, as LINE names them, at its own time and place.
-- Arguments: path, number of pilgrims, a number that no other run has, `new` for a connection each
local head, tail, pilgrims, seed
local at, second, stamp = 0, 0, ''

function init(args)
  pilgrims, seed = tonumber(args[2]), tonumber(args[3])
  math.randomseed(seed)
  at = math.random(pilgrims)
  local length = #body()
  local closing = args[4] == 'new' and '\r\nConnection: close' or ''
  head = 'POST ' .. args[1] .. ' HTTP/1.1\r\nHost: ' .. wrk.host ..
    '\r\nContent-Type: application/json\r\nContent-Length: ' .. length .. closing .. '\r\n\r\n'
end

function body()
  at = at + 1
  if at % 256 == 1 or stamp == '' then stamp = os.date('!%Y-%m-%dT%H:%M:%S') end
  return string.format(
    '{"user_id":"U%032x","lat":%.6f,"lng":%.6f,"timestamp":"%s.%03dZ","accuracy":%02d}',
    at % pilgrims, 24 + (at * 7919 % 1000000) / 1e6, 120 + (at * 104729 % 1000000) / 1e6,
    stamp, at % 1000, 10 + at % 90)
end

function request() return head .. body() end

dofile('report.lua')
