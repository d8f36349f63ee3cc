-- Orders of three lines with one unit each. Arguments: those of orders.lua.
dofile('load/updates.lua')

local LINES = 3

function change(pet)
  local chosen, lines = {}, {}
  while #lines < LINES do
    if not chosen[pet] then
      chosen[pet] = true
      lines[#lines + 1] = '{"petId":' .. pet .. ',"quantity":1}'
    end
    pet = math.random(last)
  end
  local body = '{"lines":[' .. table.concat(lines, ',') .. ']}'
  return 'POST ' .. path .. json_headers .. #body .. '\r\n\r\n' .. body
end
