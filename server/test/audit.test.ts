import { describe, expect, test } from 'bun:test'
import { fileURLToPath } from 'node:url'
import { audit } from '../scripts/audit.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Runs npm against our own registry, which sends this response to every request. */
async function auditAgainst(answer: () => Response) {
  const registry = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ method }) => (method === 'POST' ? answer() : new Response(null, { status: 404 })),
  })
  try {
    return await audit(ROOT, [`--registry=${registry.url.origin}`])
  } finally {
    await registry.stop(true)
  }
}

function advisory(severity: string) {
  return {
    id: 1,
    url: 'https://advisories.test/1',
    title: 'Planted',
    severity,
    vulnerable_versions: '*',
    cwe: [],
  }
}

describe('the dependency audit', () => {
  test('lists high vulnerabilities, and counts the others', async () => {
    const answer = { typebox: [advisory('high')], commander: [advisory('moderate')] }
    const outcome = await auditAgainst(() => Response.json(answer))
    const severe = [expect.stringMatching(/^typebox .*: high$/)]
    expect(outcome).toEqual({ type: 'checked', severe, lesser: 1 })
  }, 120_000)

  test('reports a registry failure instead of assuming safety', async () => {
    const outcome = await auditAgainst(() => new Response(null, { status: 405 }))
    expect(outcome).toEqual({ type: 'unreachable', reason: expect.stringContaining('405') })
  }, 120_000)
})
