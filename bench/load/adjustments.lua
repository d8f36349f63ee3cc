-- Adjustments by +1 or -1, each of several pets that are spread over the store.
-- Arguments: PATH KEY LAST_PET CHANGES SEED
dofile('load/report.lua')

-- The distance between the pets of an adjustment, so that hardly two are on the same page of the database.
local STRIDE = 97

function init(args)
  last, changes = tonumber(args[3]), tonumber(args[4])
  -- Otherwise an adjustment could contain a pet twice.
  assert(STRIDE * changes <= last, 'too few pets')
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

-- Alternates between +1 and -1, so that the list keeps its length.
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
