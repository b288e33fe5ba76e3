-- wrk: GET of a path, in which %06d becomes another pilgrim's number with each request.
-- Arguments: path, number of pilgrims, an operator's token or nothing
local path, pilgrims, tail
local at = 0

function init(args)
  path, pilgrims = args[1], tonumber(args[2])
  local token = args[3] or ''
  tail = ' HTTP/1.1\r\nHost: ' .. wrk.host .. (token == '' and '' or '\r\nX-Admin-Token: ' .. token) .. '\r\n\r\n'
end

function request()
  at = at + 1
  return 'GET ' .. string.format(path, at * 7919 % pilgrims) .. tail
end

dofile('report.lua')
