import type { Clock } from '../core/values/clock.ts'
import { type Sink, stdoutSink } from '../telemetry/line-writer.ts'
import { Logger } from '../telemetry/logger.ts'
import type { Config } from './config.ts'

/** Logs as the settings say, to standard output unless told otherwise. */
export function openLogger(config: Config, sink: Sink = stdoutSink(), clock: Clock = Date.now): Logger {
  return new Logger({ format: config.logFormat, requests: config.logRequests }, sink, clock)
}
