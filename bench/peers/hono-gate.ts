import { getConnInfo } from 'hono/bun'
import { createMiddleware } from 'hono/factory'
import { createGate, type PeerKey } from './gate.ts'

/** Of both Hono peers. hono.dev/docs/helpers/factory. */
export function honoGate(findKey: (hash: string) => PeerKey | undefined) {
  const pass = createGate(findKey)
  return createMiddleware<{ Variables: { keyId: string } }>(async (c, next) => {
    const result = pass(c.req.header('authorization'), getConnInfo(c).remote.address ?? 'unknown')
    for (const [name, value] of Object.entries(result.headers)) c.header(name, value)
    if (result.refused !== undefined) return c.json(result.refused, result.refused.status)
    c.set('keyId', result.key?.id ?? '')
    return next()
  })
}
