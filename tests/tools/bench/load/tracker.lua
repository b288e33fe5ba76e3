-- wrk: a position from another tracker with each request, as an app sends it, a second later in each turn of them all.
-- Arguments: path with KEY, number of trackers, a number that no other run has, method, content type, body. Path and body
-- contain the time TIME in seconds, or DATE.
local method, path, headers, body, trackers, seed
local at, before, after = 0, '', ''

function init(args)
  path, trackers, seed, method, body = args[1], tonumber(args[2]), tonumber(args[3]), args[4], args[6]
  headers = ' HTTP/1.1\r\nHost: ' .. wrk.host ..
    (args[5] == '' and '' or '\r\nContent-Type: ' .. args[5])
end

-- Only the key differs from request to request of a turn, so that the generator costs little.
local function newTurn()
  local time = os.time() - 60 - 100 * seed - math.floor(at / trackers)
  local function dated(text)
    return (text:gsub('TIME', time):gsub('DATE', os.date('!%Y-%m-%dT%H:%M:%S', time)))
  end
  local head, tail = dated(path):match('^(.*)KEY(.*)$')
  local sent = dated(body)
  before = method .. ' ' .. head
  after = tail .. headers .. (method == 'GET' and '' or '\r\nContent-Length: ' .. #sent) .. '\r\n\r\n' .. sent
end

function request()
  if at % trackers == 0 then newTurn() end
  at = at + 1
  return before .. string.format('%032d', at % trackers) .. after
end

dofile('report.lua')
