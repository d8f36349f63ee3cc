-- Adjustments by a difference, each of so many different pets that are spread over the store.
-- Arguments: PATH KEY LAST_PET CHANGES SEED
dofile('load/report.lua')

-- So far apart are the pets of an adjustment: hardly two of them are on one page of a database.
local STRIDE = 97

function init(args)
  last, changes = tonumber(args[3]), tonumber(args[4])
  -- Else a pet could be there twice.
  assert(STRIDE * changes <= last, 'there are too few pets')
  more = true
  math.randomseed(tonumber(args[5]) * 1000003)

  head = 'POST ' .. args[1] .. '/adjustments HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ' .. args[2] ..
    '\r\nContent-Type: application/json\r\nContent-Length: '
  received, sold = {}, {}
  for pet = 1, last do
    received[pet] = '{"petId":' .. pet .. ',"delta":1}'
    sold[pet] = '{"petId":' .. pet .. ',"delta":-1}'
  end
  chosen = {}
end

-- As many come as go, so that the list keeps its length.
function request()
  more = not more
  local texts = more and received or sold
  local pet = math.random(last)
  for index = 1, changes do
    chosen[index] = texts[pet]
    pet = pet + STRIDE
    if pet > last then pet = pet - last end
  end
  local body = '{"reason":"' .. (more and 'received' or 'sold') .. '","changes":[' .. table.concat(chosen, ',') .. ']}'
  return head .. #body .. '\r\n\r\n' .. body
end
