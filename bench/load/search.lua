-- Searches, one after the other. Arguments: PATH KEY SEED QUERY...
dofile('load/report.lua')

function init(args)
  requests = {}
  for number = 4, #args do
    requests[number - 3] = 'GET ' .. args[1] .. '?' .. args[number] ..
      ' HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ' .. args[2] .. '\r\n\r\n'
  end
  counter = tonumber(args[3])
end

function request()
  counter = counter + 1
  return requests[1 + counter % #requests]
end
