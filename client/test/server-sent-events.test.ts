import { expect, test } from 'bun:test'
import { EventParser, type ServerSentEvent } from '../src/server-sent-events.ts'

const LINES = [
  ...[': comment', 'retry: 1000', '', 'event: change', 'id: 1', 'data: {"a":1}', ''],
  ...[
    'data:first',
    'data',
    'data:  third',
    'id',
    '',
    'event: nothing',
    '',
    'id: 7',
    'data: x',
    'unknown: y',
    '',
  ],
  ...['id: 8\0', 'data: é\u{1f436}', '', 'data: never ended'],
]
const EVENTS: readonly ServerSentEvent[] = [
  { event: 'change', id: '1', data: '{"a":1}' },
  { event: 'message', id: '', data: 'first\n\n third' },
  { event: 'message', id: '7', data: 'x' },
  { event: 'message', id: '7', data: 'é\u{1f436}' },
]

test('events do not depend on how the stream is split or how its lines end', () => {
  for (const lineEnd of ['\n', '\r\n', '\r']) {
    const text = LINES.join(lineEnd)
    for (let size = 1; size <= text.length; size++) {
      const parser = new EventParser()
      const events: ServerSentEvent[] = []
      for (let start = 0; start < text.length; start += size) {
        events.push(...parser.push(text.slice(start, start + size)))
      }
      expect(events).toEqual([...EVENTS])
      expect(parser.retry).toBe(1000)
    }
  }
})
