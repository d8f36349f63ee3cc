import { expect, test } from 'bun:test'
import {
  childSpan,
  formatTraceContext,
  newTrace,
  parseTraceparent,
} from '../../src/core/values/trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

test.each([
  [`00-${TRACE}-${SPAN}-01`, 1],
  [`00-${TRACE}-${SPAN}-00`, 0],
  // Unknown bits are dropped.
  [`00-${TRACE}-${SPAN}-ff`, 3],
  // A later version is read like ours, whatever follows.
  [`01-${TRACE}-${SPAN}-01`, 1],
  [`cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`, 1],
])('%s is read', (text, flags) => {
  expect(parseTraceparent(text)).toEqual({ traceId: TRACE, spanId: SPAN, flags })
})

test.each([
  ['an empty header', ''],
  ['an invalid version', `ff-${TRACE}-${SPAN}-01`],
  ['more text after our version', `00-${TRACE}-${SPAN}-01-more`],
  ['more text after a later version without a dash', `01-${TRACE}-${SPAN}-01more`],
  ['capital letters', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['a short trace id', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['a long span id', `00-${TRACE}-${SPAN}0-01`],
  ['other characters', `00-${TRACE}-${SPAN}-0g`],
  ['no flags', `00-${TRACE}-${SPAN}`],
  ['two headers, joined as a list', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
])('%s is not read', (_, text) => {
  expect(parseTraceparent(text)).toBeUndefined()
})

test('a new span stays in the trace, with its flags and its own id', () => {
  const parent = { traceId: TRACE, spanId: SPAN, flags: 1 }
  const child = childSpan(parent)
  expect(child).toEqual({ ...parent, spanId: expect.stringMatching(/^[0-9a-f]{16}$/) })
  expect(child.spanId).not.toBe(SPAN)
  expect(formatTraceContext(parent)).toBe(`00-${TRACE}-${SPAN}-01`)
})

test('a new trace is valid for other programs', () => {
  const [one, other] = [newTrace(), newTrace()]
  expect(parseTraceparent(formatTraceContext(one))).toEqual(one)
  expect(one.traceId).not.toBe(other.traceId)
})
