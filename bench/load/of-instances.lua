-- Included last: spreads the requests over several instances, a thread per instance, and counts responses by tenths of a
-- second. Arguments: those of updates.lua, then the connections per thread, then the port of each instance.

local ffi = require('ffi')
ffi.cdef [[
  struct point_in_time { long seconds; long nanoseconds; };
  int clock_gettime(int clock, struct point_in_time *now);
]]
local MONOTONIC = 1
local now = ffi.new('struct point_in_time')

local threads = {}
local number_thread, read_arguments, next_request, report = setup, init, request, done

function setup(thread)
  number_thread(thread)
  threads[#threads + 1] = thread
end

function init(args)
  read_arguments(args)
  first_requests = tonumber(args[7])
  wrk.thread.addr = wrk.lookup('127.0.0.1', args[7 + thread_number])[1]
  responses = {}
end

-- A connection sends its next request after a response, so every request but the first counts one response.
function request()
  if first_requests > 0 then
    first_requests = first_requests - 1
  else
    ffi.C.clock_gettime(MONOTONIC, now)
    local tenth = tonumber(now.seconds) * 10 + math.floor(tonumber(now.nanoseconds) / 1e8)
    responses[tenth] = (responses[tenth] or 0) + 1
  end
  return next_request()
end

function done(summary, latency)
  report(summary, latency)
  local sums, first, last = {}, math.huge, 0
  for _, thread in ipairs(threads) do
    for tenth, count in pairs(thread:get('responses')) do
      sums[tenth] = (sums[tenth] or 0) + count
      first, last = math.min(first, tenth), math.max(last, tenth)
    end
  end
  local counts = {}
  for tenth = first, last do counts[#counts + 1] = sums[tenth] or 0 end
  io.write('TENTHS [' .. table.concat(counts, ',') .. ']\n')
end
