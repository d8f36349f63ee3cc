-- Orders of one unit each. Arguments: those of updates.lua, with the path of the orders.
dofile('load/updates.lua')

function change(pet)
  local body = '{"petId":' .. pet .. ',"quantity":1}'
  return 'POST ' .. path .. json_headers .. #body .. '\r\n\r\n' .. body
end
