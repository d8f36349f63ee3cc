-- Updates with a different quantity each time, mixed with READ_PERCENT lists. Each thread loads the instance of its port.
-- Arguments: PATH KEY LAST_PET READ_PERCENT SEED PORT...
dofile('load/report.lua')

local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set('thread_number', threads)
end

function init(args)
  path, last, read_percent = args[1], tonumber(args[3]), tonumber(args[4])
  -- Each round starts elsewhere, so that no pet gets the quantity that it already has.
  counter = tonumber(args[5]) * 1000003 + thread_number * 31
  math.randomseed(counter)
  wrk.thread.addr = wrk.lookup('127.0.0.1', args[5 + thread_number])[1]

  local headers = ' HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ' .. args[2] .. '\r\n'
  read_request = 'GET ' .. path .. headers .. '\r\n'
  json_headers = headers .. 'Content-Type: application/json\r\nContent-Length: '
  -- Quantities have four digits, so the body has a fixed length.
  update_tail = json_headers .. '17\r\n\r\n{"quantity":'
end

function request()
  if read_percent > 0 and math.random(100) <= read_percent then return read_request end
  counter = counter + 1
  return change(math.random(last))
end

function change(pet)
  return 'PATCH ' .. path .. '/' .. pet .. update_tail .. (1000 + counter % 9000) .. '}'
end
