/** One frame of a stream of server-sent events (HTML Living Standard, 9.2.6). A comment has no kind. */
export interface EventFrame {
  readonly kind: string | undefined
  readonly id: string
  readonly data: string
}

/** Cuts the text of a stream into frames, wherever the pieces of it were cut. */
export class FrameReader {
  #rest = ''

  push(text: string): EventFrame[] {
    const pieces = (this.#rest + text).split('\n\n')
    this.#rest = pieces.pop() ?? ''
    return pieces.map(readFrame)
  }
}

function readFrame(text: string): EventFrame {
  const fields = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? []
    fields.set(name, [...(fields.get(name) ?? []), value])
  }
  const data = fields.get('data')
  return {
    kind: data === undefined ? undefined : (fields.get('event')?.at(-1) ?? 'message'),
    id: fields.get('id')?.at(-1) ?? '',
    data: data?.join('\n') ?? '',
  }
}
