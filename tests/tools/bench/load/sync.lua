-- wrk: a track of 100 points, one each 10 s, of another pilgrim with each request.
-- Arguments: path, number of pilgrims, a number that no other run has, points a batch
local path, pilgrims, points, track
local at = 0

function init(args)
  path, pilgrims, points = args[1], tonumber(args[2]), tonumber(args[4])
  math.randomseed(tonumber(args[3]))
  at = math.random(pilgrims * 100)
  -- One track for all, whose times differ from request to request by their milliseconds.
  track = {}
  for i = 1, points do
    track[i] = string.format('{"lat":%.6f,"lng":%.6f,"timestamp":"%s.###Z","accuracy":%d,"speed":%.1f}',
      24.15 + i * 1e-4, 120.67 + i * 5e-5, os.date('!%Y-%m-%dT%H:%M:%S', os.time() - 10 * (points - i) - 60),
      5 + i % 20, 3 + (i % 20) / 10)
  end
  track = table.concat(track, ',')
end

function request()
  at = at + 1
  local body = string.format('{"user_id":"U%032x","points":[%s]}', at % pilgrims,
    (string.gsub(track, '###', string.format('%03d', math.floor(at / pilgrims) * 7 % 1000))))
  return 'POST ' .. path .. ' HTTP/1.1\r\nHost: ' .. wrk.host ..
    '\r\nContent-Type: application/json\r\nContent-Length: ' .. #body .. '\r\n\r\n' .. body
end

dofile('report.lua')
