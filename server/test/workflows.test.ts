import { expect, test } from 'bun:test'
import { Glob } from 'bun'

const WORKFLOWS = new URL('../../.github/workflows/', import.meta.url).pathname

test('every action of a workflow is pinned to a commit, because its author can move a tag', async () => {
  const actions: string[] = []
  for await (const file of new Glob('*.{yml,yaml}').scan(WORKFLOWS)) {
    const text = await Bun.file(WORKFLOWS + file).text()
    actions.push(...Array.from(text.matchAll(/^[\s-]*uses:\s*(.*)$/gm), ([, action = '']) => action))
  }
  expect(actions.length).toBeGreaterThan(0)
  for (const action of actions)
    expect(action).toMatch(/^[\w.-]+(?:\/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
})
