-- Prints the counts of wrk as one line of JSON for measure.ts.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"microseconds":%d,"bytes":%d,"refused":%d,"broken":%d,"p99":%d}\n',
    summary.requests, summary.duration, summary.bytes, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    summary.requests > 0 and latency:percentile(99) or 0
  ))
end
