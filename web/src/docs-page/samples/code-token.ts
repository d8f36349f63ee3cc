/** A piece of code and how it is coloured. */
export interface CodeToken {
  readonly kind: 'plain' | 'key' | 'string' | 'number' | 'keyword' | 'comment'
  readonly text: string
}

export type CodeLine = readonly CodeToken[]

export function plainLines(text: string): readonly CodeLine[] {
  return text.split('\n').map((line) => [{ kind: 'plain', text: line }])
}
