-- Repeats a request with an unknown key, from as many addresses as a limit for each address lets through.
-- Arguments: PATH KEY
dofile('load/report.lua')

local ADDRESSES = 16384

function init(args)
  local head = 'GET ' .. args[1] .. ' HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ' .. args[2] .. '\r\n'
  requests = {}
  for index = 0, ADDRESSES - 1 do
    local address = '10.0.' .. math.floor(index / 256) .. '.' .. index % 256
    requests[index] = head .. 'X-Forwarded-For: ' .. address .. '\r\n\r\n'
  end
  sent = 0
end

function request()
  sent = sent + 1
  return requests[sent % ADDRESSES]
end
