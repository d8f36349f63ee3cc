-- Updates with a different quantity each time, mixed with READ_PERCENT lists.
-- Arguments: PATH KEY FIRST_PET LAST_PET READ_PERCENT SEED
dofile('load/report.lua')

local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set('thread_number', threads)
end

function init(args)
  path, first, last, read_percent = args[1], tonumber(args[3]), tonumber(args[4]), tonumber(args[5])
  -- Each round starts elsewhere, so that no pet gets the quantity that it already has.
  counter = tonumber(args[6]) * 1000003 + thread_number * 31
  math.randomseed(counter)

  local headers = ' HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ' .. args[2] .. '\r\n'
  read_request = 'GET ' .. path .. headers .. '\r\n'
  json_headers = headers .. 'Content-Type: application/json\r\nContent-Length: '
  -- Quantities have four digits, so the body has a fixed length.
  update_tail = json_headers .. '17\r\n\r\n{"quantity":'
end

function request()
  if read_percent > 0 and math.random(100) <= read_percent then return read_request end
  counter = counter + 1
  return change(first == last and first or math.random(first, last))
end

function change(pet)
  return 'PATCH ' .. path .. '/' .. pet .. update_tail .. (1000 + counter % 9000) .. '}'
end
