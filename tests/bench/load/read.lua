-- wrk: GET of a path, in which %06d becomes another pilgrim's number with each request.
-- Arguments: path, number of pilgrims
local path, pilgrims
local at = 0

function init(args)
  path, pilgrims = args[1], tonumber(args[2])
end

function request()
  at = at + 1
  return 'GET ' .. string.format(path, at * 7919 % pilgrims) .. ' HTTP/1.1\r\nHost: ' .. wrk.host .. '\r\n\r\n'
end

dofile('report.lua')
